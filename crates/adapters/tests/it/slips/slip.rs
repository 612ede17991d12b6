//! A slip: the replies of a careless model at a node, and what the runtime has to make of them.

use std::collections::BTreeMap;

use super::play::{self, Play, SELECT};
use super::reply::Reply;

/// Result that the table of slips demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// Number of requests from the first reply of the slip to the repaired call; 0 is repaired in place.
    Digit(usize),
    /// The user is rightly asked, for this reason.
    User(&'static str),
    /// The run stops, for this reason.
    Stop(&'static str),
}

/// Part of the request behind a reply.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    /// The answer of the runtime has this text.
    Answer(String),
    /// The whole request does not have it.
    Never(String),
    /// The reply, as the model sees it again, has this text.
    History(String),
}

/// A slip.
pub(crate) struct Slip {
    /// Number in the table.
    pub(crate) number: usize,
    pub(crate) worth: Worth,
    pub(crate) play: Play,
    /// Index of the visit in which the model errs.
    pub(crate) visit: usize,
    /// Good replies in that visit, before the slip.
    pub(crate) before: Vec<Reply>,
    /// The replies of the slip, with what the next request shows.
    pub(crate) replies: Vec<(Reply, Vec<Shown>)>,
    /// Replies from the repaired call to the end of the visit.
    pub(crate) then: Vec<Reply>,
    /// Words of the user, each at a stop of the run.
    pub(crate) answers: Vec<&'static str>,
    /// True if only tagged calls in text count.
    pub(crate) is_tagged: bool,
    pub(crate) is_strict: bool,
    /// File that changes from outside while the model writes the first reply of the slip.
    pub(crate) outside: Option<(&'static str, String)>,
    /// Paths that must not be artifacts.
    pub(crate) strays: Vec<&'static str>,
}

/// Returns a slip at the first node of the story. The repaired call is the good play's.
pub(crate) fn slip(number: usize, worth: Worth) -> Slip {
    slip_in(play::story(), number, worth).at(SELECT)
}

/// Returns a slip in another workflow.
pub(crate) fn slip_in(play: Play, number: usize, worth: Worth) -> Slip {
    Slip {
        number,
        worth,
        play,
        visit: 0,
        before: Vec::new(),
        replies: Vec::new(),
        then: Vec::new(),
        answers: Vec::new(),
        is_tagged: false,
        is_strict: false,
        outside: None,
        strays: Vec::new(),
    }
}

impl Slip {
    /// Moves the slip to the last visit of a node.
    pub(crate) fn at(mut self, node: &str) -> Self {
        self.visit = self.play.visits.iter().rposition(|(id, _)| *id == node).unwrap();
        self.then = self.play.visits[self.visit].1.clone();
        self
    }

    /// Adds a good reply before the slip, which is the first one of the node in the good play, too, if it has several.
    pub(crate) fn after(mut self, reply: Reply) -> Self {
        self.before.push(reply);
        self
    }

    /// Adds a reply of the slip, and texts of the answer to it.
    pub(crate) fn errs(mut self, reply: Reply, answer: &[&str]) -> Self {
        let shown = answer.iter().map(|text| Shown::Answer((*text).to_owned()));
        self.replies.push((reply, shown.collect()));
        self
    }

    /// Demands that the model sees its last reply with this text.
    pub(crate) fn recorded(self, text: &str) -> Self {
        self.shows(Shown::History(text.to_owned()))
    }

    /// Demands that the request behind the last reply does not have this text.
    pub(crate) fn never(self, text: &str) -> Self {
        self.shows(Shown::Never(text.to_owned()))
    }

    fn shows(mut self, shown: Shown) -> Self {
        self.replies.last_mut().unwrap().1.push(shown);
        self
    }

    /// Replaces the replies from the repaired call to the end of the visit.
    pub(crate) fn then(mut self, replies: Vec<Reply>) -> Self {
        self.then = replies;
        self
    }

    /// Says that the last reply of the slip leaves the node.
    pub(crate) fn leaves(self) -> Self {
        self.then(Vec::new())
    }

    /// Lets the user say this at the next stop.
    pub(crate) fn answered(mut self, words: &'static str) -> Self {
        self.answers.push(words);
        self
    }

    /// Gives the project a file from the start.
    pub(crate) fn given(mut self, path: &str, text: &str) -> Self {
        self.play.project.insert(path.to_owned(), text.to_owned());
        self.file(path, text)
    }

    /// Demands that a file has this text in the end.
    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.play.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Changes a file from outside while the model writes the first reply of the slip.
    pub(crate) fn meanwhile(mut self, path: &'static str, text: String) -> Self {
        self.outside = Some((path, text));
        self
    }

    /// Demands that a file that was written is no artifact.
    pub(crate) fn stray(mut self, path: &'static str, text: &str) -> Self {
        self.strays.push(path);
        self.file(path, text)
    }

    pub(crate) fn tagged(mut self) -> Self {
        self.is_tagged = true;
        self
    }

    pub(crate) fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Replaces the replies of the visit before this one.
    pub(crate) fn prepared(mut self, replies: Vec<Reply>) -> Self {
        self.play.visits[self.visit - 1].1 = replies;
        self
    }

    /// Returns all replies of the run in order, and the index of the first one of the slip.
    pub(crate) fn all(&self) -> (Vec<Reply>, usize) {
        let of = |visits: &[(&str, Vec<Reply>)]| -> Vec<Reply> {
            visits.iter().flat_map(|(_, replies)| replies.clone()).collect()
        };
        let mut all = of(&self.play.visits[..self.visit]);
        all.extend(self.before.iter().cloned());
        let first = all.len();
        all.extend(self.replies.iter().map(|(reply, _)| reply.clone()));
        all.extend(self.then.iter().cloned());
        all.extend(of(&self.play.visits[self.visit + 1..]));
        (all, first)
    }

    /// Returns the nodes in the order in which they are entered.
    pub(crate) fn path(&self) -> Vec<&'static str> {
        self.play.visits.iter().map(|(node, _)| *node).collect()
    }

    /// Returns the files that must be there in the end.
    pub(crate) fn files(&self) -> &BTreeMap<String, String> {
        &self.play.files
    }
}
