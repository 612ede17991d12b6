//! As much of HTTP/1.1 as the loopback speaks: heads with a length, and chunked bodies.

/// The head of a request or an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpHead {
    /// The first line.
    pub(super) start: String,
    /// The offset of the body.
    pub(super) end: usize,
    /// How long the body is.
    pub(super) body: Length,
}

/// The marker of the end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Bytes(usize),
    Chunked,
}

impl HttpHead {
    /// Returns the head, once all of it is there.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
        let text = String::from_utf8_lossy(bytes.get(..end)?);
        let mut lines = text.lines();
        let start = lines.next().unwrap_or_default().to_owned();
        let mut body = Length::Bytes(0);
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            if name.eq_ignore_ascii_case("content-length") {
                body = Length::Bytes(value.trim().parse().ok()?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                body = Length::Chunked;
            }
        }
        Some(Self { start, end, body })
    }

    /// Returns the method and the path of a request.
    pub(super) fn target(&self) -> (&str, &str) {
        let mut words = self.start.split(' ');
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    }

    /// Returns the end of the message in these bytes, once all of it is there. A chunked body must be the last thing in
    /// them.
    pub(super) fn message_end(&self, bytes: &[u8]) -> Option<usize> {
        match self.body {
            Length::Bytes(length) => Some(self.end + length).filter(|end| *end <= bytes.len()),
            Length::Chunked => {
                Some(bytes.len()).filter(|_| bytes[self.end..].ends_with(b"0\r\n\r\n"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_end(message: &str, expected: Option<usize>) {
        let found = HttpHead::parse(message.as_bytes())
            .and_then(|head| head.message_end(message.as_bytes()));
        assert_eq!(found, expected, "{message}");
    }

    #[test]
    fn a_message_ends_where_its_head_says() {
        check_end("GET /x HTTP/1.1\r\nHost: a\r\n", None);
        check_end("GET /x HTTP/1.1\r\nHost: a\r\n\r\n", Some(28));
        check_end("POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\na", None);
        check_end("POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\nab", Some(41));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
        check_end(chunked, None);
        check_end(&format!("{chunked}0\r\n\r\n"), Some(chunked.len() + 5));
    }
}
