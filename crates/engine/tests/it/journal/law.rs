//! Whatever happens to a journal, the records before it survive.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

use super::*;

#[derive(Clone, Debug)]
enum Harm {
    Set(Index, u8),
    Zero(Index, usize),
    Cut(Index),
    Insert(Index, Vec<u8>),
    Repeat(Index),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Harm::Set(at, byte)),
        (any::<Index>(), 1..600_usize).prop_map(|(at, count)| Harm::Zero(at, count)),
        any::<Index>().prop_map(Harm::Cut),
        (any::<Index>(), prop::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Harm::Insert(at, bytes)),
        any::<Index>().prop_map(Harm::Repeat),
    ]
}

fn apply(bytes: &mut Vec<u8>, harm: &Harm) {
    if bytes.is_empty() {
        return;
    }
    match harm {
        Harm::Set(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Harm::Zero(at, count) => {
            let at = at.index(bytes.len());
            let end = bytes.len().min(at + count);
            bytes[at..end].fill(0);
        }
        Harm::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Harm::Insert(at, more) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, more.iter().copied());
        }
        Harm::Repeat(at) => {
            let tail = bytes[at.index(bytes.len())..].to_vec();
            bytes.extend(tail);
        }
    }
}

/// Returns the length of the common prefix.
fn same(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_to_a_journal_the_records_before_it_stay(
        harms in prop::collection::vec(harm(), 1..4)
    ) {
        let whole = lines(&inputs(6));
        let mut bytes = whole.clone();
        harms.iter().for_each(|harm| apply(&mut bytes, harm));
        let judged = recover(&bytes);
        let untouched = same(&whole, &bytes);
        let kept = whole[..untouched].iter().filter(|byte| **byte == b'\n').count();
        prop_assert!(judged.events.len() >= kept);
        prop_assert_eq!(&judged.events[..kept], &inputs(6)[..kept]);
        for (seq, event) in (1..).zip(&judged.events) {
            prop_assert_eq!(event.seq, seq);
        }
        // All bytes are accounted for.
        let rest = match judged.rest {
            TrailingBytes::Nothing => 0,
            TrailingBytes::Torn { bytes } | TrailingBytes::Repeated { bytes } | TrailingBytes::Damaged { bytes } => bytes,
        };
        prop_assert_eq!(judged.good + rest, bytes.len() as u64);
        // The good part is judged the same without the rest.
        let good = usize::try_from(judged.good).unwrap();
        let again = recover(&bytes[..good]);
        prop_assert_eq!(again.rest, TrailingBytes::Nothing);
        prop_assert_eq!(again.events, judged.events);
    }
}
