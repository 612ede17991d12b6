//! Ranges of valid numbers.

use serde_json::Number;

/// Largest integer up to which every JSON reader keeps integers exact.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;

/// Numbers between two bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    lower: Option<Bound>,
    upper: Option<Bound>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    /// Form in messages.
    pub(super) number: Number,
    /// Value for comparisons.
    pub(super) value: f64,
    pub(super) edge: Inclusion,
}

/// Inclusion of a bound in its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inclusion {
    Inside,
    Outside,
}

impl Range {
    /// Intersects all of these bounds.
    pub(super) fn within(lower: Vec<Bound>, upper: Vec<Bound>) -> Self {
        let outside_last = |edge: Inclusion| edge == Inclusion::Outside;
        let lower = lower.into_iter().max_by(|one, other| {
            one.value
                .total_cmp(&other.value)
                .then(outside_last(one.edge).cmp(&outside_last(other.edge)))
        });
        let upper = upper.into_iter().min_by(|one, other| {
            one.value
                .total_cmp(&other.value)
                .then(outside_last(other.edge).cmp(&outside_last(one.edge)))
        });
        Self { lower, upper }
    }

    pub(super) fn is_empty(&self) -> bool {
        let (Some(lower), Some(upper)) = (&self.lower, &self.upper) else { return false };
        let is_point = lower.edge == Inclusion::Inside && upper.edge == Inclusion::Inside;
        lower.value > upper.value || (lower.value == upper.value && !is_point)
    }

    pub(super) fn has_no_integer(&self) -> bool {
        let first = self.lower.as_ref().map_or(-EXACT, |bound| match bound.edge {
            Inclusion::Outside if bound.value.fract() == 0.0 => bound.value + 1.0,
            Inclusion::Outside | Inclusion::Inside => bound.value.ceil(),
        });
        let last = self.upper.as_ref().map_or(EXACT, |bound| match bound.edge {
            Inclusion::Outside if bound.value.fract() == 0.0 => bound.value - 1.0,
            Inclusion::Outside | Inclusion::Inside => bound.value.floor(),
        });
        first.max(-EXACT) > last.min(EXACT)
    }

    /// Describes the requirement that a number violates; `None` if it is in the range.
    pub(super) fn refuses(&self, number: f64) -> Option<String> {
        if let Some(Bound { number: least, value, edge }) = &self.lower {
            match edge {
                Inclusion::Inside if number < *value => return Some(format!("at least {least}")),
                Inclusion::Outside if number <= *value => {
                    return Some(format!("more than {least}"));
                }
                Inclusion::Inside | Inclusion::Outside => {}
            }
        }
        if let Some(Bound { number: most, value, edge }) = &self.upper {
            match edge {
                Inclusion::Inside if number > *value => return Some(format!("at most {most}")),
                Inclusion::Outside if number >= *value => return Some(format!("less than {most}")),
                Inclusion::Inside | Inclusion::Outside => {}
            }
        }
        None
    }

    /// Describes the range, as it follows `a number` in a sentence.
    pub(super) fn describe(&self) -> String {
        match (&self.lower, &self.upper) {
            (None, None) => String::new(),
            (Some(lower), Some(upper))
                if lower.edge == Inclusion::Inside && upper.edge == Inclusion::Inside =>
            {
                format!(" from {} to {}", lower.number, upper.number)
            }
            (Some(lower), Some(upper)) => format!(" {} and {}", lower.above(), upper.below()),
            (Some(lower), None) => format!(" {}", lower.above()),
            (None, Some(upper)) => format!(" {}", upper.below()),
        }
    }
}

impl Bound {
    fn above(&self) -> String {
        match self.edge {
            Inclusion::Inside => format!("of at least {}", self.number),
            Inclusion::Outside => format!("of more than {}", self.number),
        }
    }

    fn below(&self) -> String {
        match self.edge {
            Inclusion::Inside => format!("of at most {}", self.number),
            Inclusion::Outside => format!("of less than {}", self.number),
        }
    }
}
