//! Laws of contexts under random sequences of calls.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

use super::block::Block;
use super::tests::{call, reply};
use super::*;

#[derive(Clone, Debug)]
enum Op {
    System(u8),
    Anchor(usize, usize),
    Input(usize),
    Nudge,
    Reply {
        words: usize,
        calls: usize,
        arguments: usize,
    },
    /// Answers a call, by its number.
    Answer(usize, usize),
    Exchange(usize),
    Leave,
    Fit,
    Settle,
    Window(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let size = || prop_oneof![8 => 0_usize..300, 4 => 300_usize..4000, 1 => 30_000_usize..70_000];
    let op = prop_oneof![
        1 => any::<u8>().prop_map(|number| Op::System(number % 4)),
        2 => (1_usize..4, size()).prop_map(|(count, size)| Op::Anchor(count, size)),
        2 => size().prop_map(Op::Input),
        1 => Just(Op::Nudge),
        6 => (size(), 0_usize..4, size()).prop_map(|(words, calls, arguments)| Op::Reply { words, calls, arguments }),
        9 => (0_usize..4, size()).prop_map(|(at, size)| Op::Answer(at, size)),
        1 => size().prop_map(Op::Exchange),
        1 => Just(Op::Leave),
        2 => Just(Op::Fit),
        1 => Just(Op::Settle),
        1 => (50_u64..30_000).prop_map(Op::Window),
    ];
    prop::collection::vec(op, 1..40)
}

/// Returns a varied text of this size.
fn text(size: usize) -> String {
    format!("{size}\"\n中").chars().cycle().take(size).collect()
}

/// Form of long texts: loaded, or blobs as in a later process.
#[derive(Clone, Copy)]
enum Long {
    Inline,
    Blob,
}

fn payload(text: String, long: Long) -> Payload {
    let inline = Payload::from(text);
    match long {
        Long::Blob if inline.bytes() > 32 * 1024 => {
            Payload::Blob { sha256: inline.digest(), bytes: inline.bytes() }
        }
        Long::Inline | Long::Blob => inline,
    }
}

fn apply(context: &mut Context, op: &Op, long: Long) -> Option<Cut> {
    match op {
        Op::System(number) => {
            context.set_system((0..*number).map(|at| text(usize::from(at) + 5)).collect());
        }
        Op::Anchor(count, size) => context.anchor(vec![text(*size); *count]),
        Op::Input(size) => context.user_input(text(*size)),
        Op::Nudge => context.nudge("well?".into()),
        Op::Reply { words, calls, arguments } => {
            let calls = (0..*calls).map(|at| {
                let mut call = call(&format!("c{at}"), "");
                call.arguments = payload(text(*arguments), long);
                call
            });
            context.reply(&reply(&text(*words), calls.collect()), &|call| call.id != "c1");
        }
        Op::Answer(at, size) => context.answer(&format!("c{at}"), payload(text(*size), long)),
        Op::Exchange(size) => context.exchange(&text(size + 1), &text(*size)),
        Op::Leave => context.leave_node(),
        Op::Fit => return context.fit(),
        Op::Settle => context.settle(),
        Op::Window(tokens) => context.set_window(*tokens),
    }
    None
}

fn is_append(op: &Op) -> bool {
    match op {
        Op::Anchor(..) | Op::Input(_) | Op::Nudge | Op::Reply { .. } | Op::Answer(..) => true,
        Op::Exchange(_) | Op::Settle | Op::Window(_) => true,
        Op::System(_) | Op::Leave | Op::Fit => false,
    }
}

/// Returns true if only the part that is never cut is left.
fn is_least(context: &Context) -> bool {
    let count =
        |is: &dyn Fn(&Block) -> bool| context.blocks.iter().filter(|block| is(block)).count();
    let answers_are_short = context.blocks.iter().all(|block| match block {
        Block::Group(group) => group.results.iter().all(|entry| entry.bytes <= 512 + 8),
        Block::Anchor(_) | Block::Input(_) | Block::Text(_) | Block::Nudge(_) => true,
    });
    count(&|block| matches!(block, Block::Group(_))) <= 1
        && count(&|block| matches!(block, Block::Anchor(_))) <= 2
        && count(&|block| matches!(block, Block::Input(_))) <= 1
        && count(&|block| matches!(block, Block::Text(_))) == 0
        && count(&|block| matches!(block, Block::Nudge(_))) <= 1
        && answers_are_short
}

/// Computes the digest of the messages from scratch.
fn digest_of(messages: &[Arc<Message>]) -> Digest {
    let mut chain = Chain::default();
    messages.iter().for_each(|message| chain.push(fingerprint::message_digest(message)));
    chain.with(tools_digest(&[]))
}

fn check_step(before: &Context, op: &Op, context: &Context) -> Result<(), TestCaseError> {
    let messages = context.messages();
    prop_assert_eq!(context.len(), messages.len());
    prop_assert_eq!(context.bytes(), messages.iter().map(|message| message.bytes()).sum::<u64>());
    prop_assert_eq!(context.sha256(tools_digest(&[])), digest_of(&messages));
    if is_append(op) {
        let old = before.messages();
        prop_assert!(old.len() <= messages.len());
        prop_assert!(old.iter().zip(messages.iter()).all(|(old, new)| Arc::ptr_eq(old, new)));
    }
    match op {
        Op::Leave => {
            let is_rule = |message: &Arc<Message>| matches!(**message, Message::System { .. });
            prop_assert!(messages.iter().all(is_rule));
        }
        Op::Fit => prop_assert!(context.fits() || is_least(context), "{:?}", context.size),
        Op::System(_) | Op::Anchor(..) | Op::Input(_) | Op::Nudge | Op::Reply { .. } => {}
        Op::Answer(..) | Op::Exchange(_) | Op::Settle | Op::Window(_) => {}
    }
    let mut settled = context.clone();
    settled.settle();
    prop_assert_eq!(settled.check(), Ok(()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_a_context_can_be_sent(ops in ops(), window in 50_u64..30_000) {
        let mut context = Context::new(window);
        for op in &ops {
            let before = context.clone();
            apply(&mut context, op, Long::Inline);
            check_step(&before, op, &context)?;
        }
    }

    #[test]
    fn a_later_process_sends_the_same_requests(ops in ops(), window in 50_u64..30_000) {
        let (mut first, mut later) = (Context::new(window), Context::new(window));
        for op in &ops {
            prop_assert_eq!(apply(&mut first, op, Long::Inline), apply(&mut later, op, Long::Blob));
            prop_assert_eq!(first.sha256(tools_digest(&[])), later.sha256(tools_digest(&[])));
            prop_assert_eq!((first.len(), first.bytes()), (later.len(), later.bytes()));
        }
        prop_assert_eq!(first.take_added(), later.take_added());
    }
}
