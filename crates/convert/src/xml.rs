//! A small scanner for elements with attributes in a text: bounded, without document types and external entities.
//!
//! Text around and between elements is kept as it is written. A tag that is not closed ends with its parent.

/// Elements deeper than this are text.
const MAX_DEPTH: usize = 64;
/// Elements after this many are text.
const MAX_ELEMENTS: usize = 20_000;

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    /// Name in lower case.
    pub(crate) name: String,
    /// Attributes in the order of the text, with decoded values.
    pub(crate) attributes: Vec<(String, String)>,
    /// Byte at which it begins.
    pub(crate) start: usize,
    /// Bytes between its tags.
    pub(crate) inside: (usize, usize),
    /// Text inside, without the texts of its children, decoded.
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// Returns an attribute that is not blank.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the first child of this name.
    pub(crate) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// Visits all elements below, in the order of the text.
    pub(crate) fn descendants<'e>(&'e self, found: &mut Vec<&'e Element>) {
        for child in &self.children {
            found.push(child);
            child.descendants(found);
        }
    }

    /// Returns everything between its tags as it is written, with other tags in it, decoded. `source` is the text that
    /// was parsed.
    pub(crate) fn written_text(&self, source: &str) -> String {
        let (start, end) = self.inside;
        decoded(source.get(start..end).unwrap_or_default()).trim().to_owned()
    }

    /// Returns its text and the texts below it.
    pub(crate) fn full_text(&self) -> String {
        let mut text = self.text.trim().to_owned();
        for child in &self.children {
            let inside = child.full_text();
            if !inside.is_empty() {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&inside);
            }
        }
        text
    }
}

/// Reads the elements of a text: the children of the element that is returned.
pub(crate) fn parse(text: &str) -> Element {
    let mut open = vec![Element::default()];
    let mut count = 0;
    let mut at = 0;
    // No tag ends after the last `>`: looking for its end again and again would take quadratic time.
    let last_end = text.rfind('>').unwrap_or(0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.find('<').unwrap_or(rest.len());
        push_text(&mut open, rest.get(..plain).unwrap_or_default());
        at += plain;
        let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let tag = (at < last_end).then(|| Tag::read(rest)).flatten();
        at += match tag {
            Some(Tag::Skipped(length)) => length,
            Some(Tag::Close { name, length }) => {
                close(&mut open, &name, at);
                length
            }
            Some(Tag::Open { mut element, is_closed, length })
                if count < MAX_ELEMENTS && open.len() < MAX_DEPTH =>
            {
                element.start = at;
                element.inside = (at + length, at + length);
                count += 1;
                open.push(element);
                if is_closed {
                    fold(&mut open, at + length);
                }
                length
            }
            Some(Tag::Open { length, .. }) => {
                push_text(&mut open, rest.get(..length).unwrap_or_default());
                length
            }
            None => {
                push_text(&mut open, "<");
                1
            }
        };
    }
    while open.len() > 1 {
        fold(&mut open, text.len());
    }
    open.pop().unwrap_or_default()
}

fn push_text(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(&decoded(text));
    }
}

/// Ends the innermost open element and puts it into its parent.
fn fold(open: &mut Vec<Element>, end: usize) {
    if let Some(mut element) = open.pop()
        && let Some(parent) = open.last_mut()
    {
        element.inside.1 = end;
        parent.children.push(element);
    }
}

fn close(open: &mut Vec<Element>, name: &str, end: usize) {
    // A closing tag without an open one is nothing.
    let Some(at) = open.iter().skip(1).rposition(|element| element.name == name) else { return };
    while open.len() > at + 1 {
        fold(open, end);
    }
}

/// Tag at the start of a text.
enum Tag {
    Open {
        element: Element,
        is_closed: bool,
        length: usize,
    },
    Close {
        name: String,
        length: usize,
    },
    /// A comment, a declaration or an instruction.
    Skipped(usize),
}

impl Tag {
    fn read(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("<!--") {
            return Some(Self::Skipped(rest.find("-->").map_or(text.len(), |end| end + 7)));
        }
        if text.starts_with("<!") || text.starts_with("<?") {
            return Some(Self::Skipped(text.find('>')? + 1));
        }
        if let Some(rest) = text.strip_prefix("</") {
            let name = name_at(rest)?;
            let end = rest.find('>')?;
            return Some(Self::Close { name: name.to_ascii_lowercase(), length: end + 3 });
        }
        let name = name_at(text.get(1..)?)?;
        let mut element = Element { name: name.to_ascii_lowercase(), ..Element::default() };
        let mut at = 1 + name.len();
        loop {
            let rest = text.get(at..)?;
            let trimmed = rest.trim_start();
            at += rest.len() - trimmed.len();
            if trimmed.starts_with("/>") {
                return Some(Self::Open { element, is_closed: true, length: at + 2 });
            }
            if trimmed.starts_with('>') {
                return Some(Self::Open { element, is_closed: false, length: at + 1 });
            }
            let (attribute, length) = attribute_at(trimmed)?;
            element.attributes.push(attribute);
            at += length;
        }
    }
}

fn name_at(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':')));
    let name = text.get(..end.unwrap_or(text.len()))?;
    name.starts_with(|c: char| c.is_alphabetic()).then_some(name)
}

/// Reads `name="value"`, `name='value'` or `name`.
fn attribute_at(text: &str) -> Option<((String, String), usize)> {
    let name = name_at(text)?;
    let rest = text.get(name.len()..)?;
    let after = rest.trim_start();
    let Some(value) = after.strip_prefix('=') else {
        return Some(((name.to_ascii_lowercase(), String::new()), name.len()));
    };
    let value = value.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = value.get(1..)?;
    let end = inside.find(quote)?;
    let length = text.len() - value.len() + end + 2;
    Some(((name.to_ascii_lowercase(), decoded(inside.get(..end)?)), length))
}

/// Replaces the five named entities and numeric ones.
pub(crate) fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let near = rest.get(1..rest.floor_char_boundary(12)).unwrap_or_default();
        let entity = near.find(';').and_then(|end| near.get(..end));
        match entity.and_then(|name| Some((entity_char(name)?, name.len() + 2))) {
            Some((c, length)) => {
                out.push(c);
                rest = rest.get(length..).unwrap_or_default();
            }
            None => {
                out.push('&');
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity_char(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| *c == '\n' || *c == '\t' || !c.is_control())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_attributes_and_texts_are_read() {
        let root = parse("Words <a x=\"1 &amp; 2\" y='z' flag>one <b/>two</a> <!-- <c> --> end");
        let a = root.child("a").unwrap();
        assert_eq!(a.attribute("x"), Some("1 & 2"));
        assert_eq!(a.attribute("y"), Some("z"));
        assert_eq!(a.attribute("flag"), None);
        assert_eq!(a.text, "one two");
        assert_eq!(a.children.len(), 1);
        assert_eq!(root.text, "Words   end");
        let text = "<a> one &amp; <b>two</b> </a>";
        assert_eq!(parse(text).child("a").unwrap().written_text(text), "one & <b>two</b>");
    }

    #[test]
    fn what_is_not_closed_ends_with_its_parent() {
        let root = parse("<a><b>text<c>more</a><d>");
        let a = root.child("a").unwrap();
        assert_eq!(a.child("b").unwrap().child("c").unwrap().text, "more");
        assert!(root.child("d").is_some());
        assert_eq!(parse("</x>a < b <1> <").text, "a < b <1> <");
    }

    #[test]
    fn entities_are_decoded_by_name_and_number_only() {
        assert_eq!(decoded("&lt;&#65;&#x4e2d;&apos;&unknown;&amp;lt;&"), "<A中'&unknown;&lt;&");
        assert_eq!(decoded("&#0;&#27;"), "&#0;&#27;");
        let bomb = "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
        assert_eq!(parse(bomb).child("a").unwrap().text, "&b;");
    }

    #[test]
    fn unclosed_tags_take_no_longer_than_others() {
        for piece in ["<!", "</a", "<a x=\"", "<a x='", "<!--", "<a x x ", "&#"] {
            let text = piece.repeat(1_000_000);
            assert!(parse(&text).children.len() <= MAX_ELEMENTS);
            parse(&format!("{text}>"));
        }
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let deep = parse(&"<a>".repeat(200_000));
        let mut depth = 0;
        let mut element = &deep;
        while let Some(child) = element.child("a") {
            (element, depth) = (child, depth + 1);
        }
        assert_eq!(depth, MAX_DEPTH - 1);
        assert_eq!(parse(&"<a/>".repeat(100_000)).children.len(), MAX_ELEMENTS);
    }
}
