//! An answer as the bytes of a stream: server-sent events in chunks of HTTP, and the places where it may pause.

use std::io::{self, Write as _};

use super::plan::{AnswerPlan, ModelAnswer};

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
    transfer-encoding: chunked\r\n\r\n";

/// The bytes of an answer, and where each piece of it ends.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<usize>,
}

impl Frames {
    /// Makes the answer to a request of this run. The first piece is the head, the last one is everything after the
    /// tokens.
    pub(super) fn of(
        plan: &AnswerPlan,
        answer: &ModelAnswer,
        run: usize,
        turn: usize,
    ) -> io::Result<Self> {
        let mut frames = Self::default();
        frames.bytes.extend_from_slice(HEAD);
        frames.end();
        let mut tokens = 0;
        for piece in pieces(answer.content.as_deref().unwrap_or_default(), plan.piece) {
            frames.delta(&format!(r#"{{"content":{}}}"#, quoted(piece)?), "null")?;
            frames.end();
            tokens += 1;
        }
        for (index, call) in answer.calls.iter().enumerate() {
            let (id, name) = (quoted(&call_id(run, turn, index))?, quoted(&call.name)?);
            let function = format!(r#"{{"name":{name},"arguments":""}}"#);
            frames.call(&format!(
                r#"{{"index":{index},"id":{id},"type":"function","function":{function}}}"#
            ))?;
            for piece in pieces(&call.arguments, plan.piece) {
                let function = format!(r#"{{"arguments":{}}}"#, quoted(piece)?);
                frames.call(&format!(r#"{{"index":{index},"function":{function}}}"#))?;
                tokens += 1;
            }
        }
        let reason = if answer.calls.is_empty() { r#""stop""# } else { r#""tool_calls""# };
        frames.delta("{}", reason)?;
        frames.event(&format!(
            r#""choices":[],"usage":{{"prompt_tokens":1000,"completion_tokens":{tokens},"total_tokens":{}}}"#,
            1000 + tokens
        ))?;
        frames.chunk(b"data: [DONE]\n\n")?;
        frames.bytes.extend_from_slice(b"0\r\n\r\n");
        frames.end();
        Ok(frames)
    }

    /// Makes a whole HTTP answer.
    pub(super) fn plain(status: &str, body: &[u8]) -> io::Result<Self> {
        let mut bytes = Vec::new();
        write!(
            bytes,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )?;
        bytes.extend_from_slice(body);
        let ends = vec![bytes.len()];
        Ok(Self { bytes, ends })
    }

    fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Writes a piece of a call.
    fn call(&mut self, call: &str) -> io::Result<()> {
        self.delta(&format!(r#"{{"tool_calls":[{call}]}}"#), "null")?;
        self.end();
        Ok(())
    }

    fn delta(&mut self, delta: &str, finish: &str) -> io::Result<()> {
        self.event(&format!(
            r#""choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]"#
        ))
    }

    fn event(&mut self, rest: &str) -> io::Result<()> {
        let event = format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"loopback\",{rest}}}\n\n"
        );
        self.chunk(event.as_bytes())
    }

    fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        write!(self.bytes, "{:x}\r\n", bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(b"\r\n");
        Ok(())
    }
}

fn quoted(text: &str) -> io::Result<String> {
    Ok(serde_json::to_string(text)?)
}

/// Returns the id of a call, from which the next request of the same run is known.
fn call_id(run: usize, turn: usize, index: usize) -> String {
    format!("{MARK}{run}_{turn}_{index}")
}

const MARK: &str = "call_r";

/// Returns the run and the turn of the last call that a body names.
pub(super) fn last_call(body: &[u8]) -> Option<(usize, usize)> {
    let at = body.windows(MARK.len()).rposition(|window| window == MARK.as_bytes())?;
    let rest = body.get(at + MARK.len()..)?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'_')?;
    let mut numbers = std::str::from_utf8(rest.get(..end)?).ok()?.split('_');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Splits a text into pieces of this many characters.
fn pieces(text: &str, characters: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(characters.max(1)).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_known_by_the_id_of_its_last_call() {
        let id = call_id(17, 3, 0);
        let body = format!(r#"{{"m":[{{"id":"call_r17_2_0"}},{{"tool_call_id":"{id}"}}]}}"#);
        assert_eq!(last_call(body.as_bytes()), Some((17, 3)));
        assert_eq!(last_call(b"{}"), None);
    }

    #[test]
    fn pieces_are_the_text() {
        for (text, count) in [("", 0), ("abc", 1), ("abcdefgh", 2), ("äöüßäöüßx", 3)] {
            let found: Vec<_> = pieces(text, 4).collect();
            assert_eq!((found.concat().as_str(), found.len()), (text, count));
        }
    }

    #[test]
    fn an_answer_pauses_after_each_token() {
        let answer = ModelAnswer::call("fs.read", r#"{"path":"@project/a"}"#);
        let plan = AnswerPlan::crowd(vec![], 50);
        let frames = Frames::of(&plan, &answer, 0, 0).unwrap();
        // The head, the begin of the call, six tokens, the end.
        assert_eq!(frames.ends.len(), 9);
        assert_eq!(frames.ends.last(), Some(&frames.bytes.len()));
        let text = String::from_utf8(frames.bytes.clone()).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("data: {")) {
            serde_json::from_str::<serde_json::Value>(&format!("{{{line}")).unwrap();
        }
        assert!(frames.bytes.ends_with(b"data: [DONE]\n\n\r\n0\r\n\r\n"));
    }
}
