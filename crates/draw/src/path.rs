//! Paths of edges: smooth ones for edges that go down, square ones with round corners for loops.

use serde::Serialize;

/// Point of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Point {
    #[serde(serialize_with = "short")]
    pub(super) x: f64,
    #[serde(serialize_with = "short")]
    pub(super) y: f64,
}

impl Point {
    pub(super) fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }
}

/// Rounds to a tenth of a pixel: more digits are noise in files and diffs.
pub(super) fn rounded(value: f64) -> f64 {
    // Adding zero turns -0 into 0.
    (value * 10.0).round() / 10.0 + 0.0
}

/// Serializes a number as [`rounded`].
pub(super) fn short<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*value))
}

/// SVG path data, and the same path as a polyline.
#[derive(Debug, Clone)]
pub(super) struct SvgPath {
    pub(super) data: String,
    pub(super) points: Vec<Point>,
}

/// Point that a smooth path passes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knot {
    pub(super) at: Point,
    /// Change of x for each pixel down; 0 is vertical.
    pub(super) slope: f64,
}

impl Knot {
    pub(super) fn vertical(x: f64, y: f64) -> Knot {
        Knot { at: Point::new(x, y), slope: 0.0 }
    }
}

impl SvgPath {
    fn begin(at: Point) -> SvgPath {
        SvgPath { data: format!("M{} {}", rounded(at.x), rounded(at.y)), points: vec![at] }
    }

    fn line(&mut self, to: Point) {
        self.data.push_str(&format!("L{} {}", rounded(to.x), rounded(to.y)));
        self.points.push(to);
    }

    fn curve(&mut self, first: Point, second: Point, to: Point) {
        let [a, b, c] = [first, second, to].map(|p| format!("{} {}", rounded(p.x), rounded(p.y)));
        self.data.push_str(&format!("C{a} {b} {c}"));
        self.points.push(to);
    }

    /// Builds a smooth path down through the knots.
    pub(super) fn flowing(knots: &[Knot]) -> SvgPath {
        let start = knots.first().map_or(Point::new(0.0, 0.0), |knot| knot.at);
        let mut path = SvgPath::begin(start);
        let mut pending: Option<Point> = None;
        for pair in knots.windows(2) {
            let [from, to] = pair else { continue };
            let (a, b) = (from.at, to.at);
            let is_straight = (a.x - b.x).abs() < 0.5 && from.slope == 0.0 && to.slope == 0.0;
            if is_straight {
                pending = Some(Point::new(a.x, b.y));
                continue;
            }
            if let Some(end) = pending.take() {
                path.line(end);
            }
            let half = (b.y - a.y) / 2.0;
            let first = Point::new(a.x + from.slope * half, a.y + half);
            let second = Point::new(b.x - to.slope * half, b.y - half);
            path.curve(first, second, b);
        }
        if let Some(end) = pending {
            path.line(end);
        }
        path
    }

    /// Builds a path of straight segments with rounded corners.
    pub(super) fn square(corners: &[Point], radius: f64) -> SvgPath {
        let start = corners.first().copied().unwrap_or(Point::new(0.0, 0.0));
        let mut path = SvgPath::begin(start);
        for triple in corners.windows(3) {
            let [before, corner, after] = triple else { continue };
            let r = radius.min(length(*before, *corner) / 2.0).min(length(*corner, *after) / 2.0);
            let (entry, exit) = (towards(*corner, *before, r), towards(*corner, *after, r));
            path.line(entry);
            // A quarter circle as a cubic: the handles are 0.55 of the radius long.
            path.curve(towards(entry, *corner, r * 0.55), towards(exit, *corner, r * 0.55), exit);
        }
        if let Some(&end) = corners.last() {
            path.line(end);
        }
        path
    }
}

fn length(a: Point, b: Point) -> f64 {
    ((a.x - b.x).powi(2) + (a.y - b.y).powi(2)).sqrt()
}

fn towards(from: Point, to: Point, distance: f64) -> Point {
    let whole = length(from, to);
    if whole < 1e-9 {
        return from;
    }
    let share = distance / whole;
    Point::new(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share)
}
