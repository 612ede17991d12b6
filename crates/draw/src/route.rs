//! Routes of edges in coordinates: ports at the borders, paths between them, labels on the paths.

use super::columns::{Columns, Down, Route};
use super::lanes::{Lane, LaneSide, LaneTurn};
use super::levels::Levels;
use super::parts::{EdgeEnd, Heading, OWN_LOOP, Parts, PlacedEdge, START_DOT, StartDot};
use super::path::{Knot, Point, SvgPath};
use super::ports;

/// Length of the straight piece at both ends of an edge: room for the default mark and the arrow head.
const STUB: f64 = 10.0;
/// Distance before the tip at which the line ends, so that it does not show beside the arrow's point.
const ARROW: f64 = 6.0;
const LOOP_CORNER: f64 = 10.0;
/// Maximum slope of a path at its label.
const MOST_LEAN: f64 = 1.1;

/// Routes all links and the arrow from the start dot.
pub(super) fn all(
    parts: &Parts,
    columns: &Columns,
    levels: &Levels,
) -> (Vec<PlacedEdge>, Option<StartDot>) {
    let router = Router { parts, columns, levels, ports: Ports::of(parts, columns) };
    // Top of the next own loop of each node, from its centre; together the loops are centred.
    let mut own_top = vec![0.0f64; parts.cards.len()];
    for ((link, way), label) in parts.graph.links.iter().zip(&columns.ways).zip(&parts.labels) {
        if let Route::Own = way {
            own_top[link.from] -= label.loop_height() / 2.0;
        }
    }
    let edges = columns.ways.iter().enumerate().map(|(link, way)| match way {
        Route::Down(down) => router.down(link, down),
        Route::Back(lane) => router.back(link, lane),
        Route::Own => {
            let node = parts.graph.links[link].from;
            let height = parts.labels[link].loop_height();
            own_top[node] += height;
            router.own(link, own_top[node] - height / 2.0)
        }
    });
    let edges = edges.collect();
    (edges, router.start())
}

/// Ports of every link, relative to the centres of its nodes: x at top and bottom, y at the sides.
struct Ports {
    leave: Vec<f64>,
    enter: Vec<f64>,
    start: f64,
}

/// Claim to a port at a border.
struct PortClaim {
    /// Link, or `None` for the arrow from the start dot.
    link: Option<usize>,
    towards: f64,
}

impl Ports {
    fn of(parts: &Parts, columns: &Columns) -> Ports {
        let count = parts.graph.links.len();
        let mut ports = Ports { leave: vec![0.0; count], enter: vec![0.0; count], start: 0.0 };
        let mut below: Vec<Vec<PortClaim>> = parts.cards.iter().map(|_| Vec::new()).collect();
        let mut above: Vec<Vec<PortClaim>> = parts.cards.iter().map(|_| Vec::new()).collect();
        if let (Some(entry), Some(start)) = (parts.graph.entry, &columns.start) {
            let last = start.bends.last().copied().unwrap_or(start.x);
            above[entry].push(PortClaim { link: None, towards: last - columns.x[entry] });
        }
        for (at, (link, way)) in parts.graph.links.iter().zip(&columns.ways).enumerate() {
            let (from, to) = (columns.x[link.from], columns.x[link.to]);
            let mut leave =
                |x: f64| below[link.from].push(PortClaim { link: Some(at), towards: x - from });
            let mut enter =
                |x: f64| above[link.to].push(PortClaim { link: Some(at), towards: x - to });
            match way {
                Route::Down(down) => {
                    leave(down.bends.first().copied().unwrap_or(to));
                    enter(down.bends.last().copied().unwrap_or(from));
                }
                Route::Back(lane) => {
                    if lane.leave != LaneTurn::Beside {
                        leave(lane.x);
                    }
                    if lane.enter != LaneTurn::Beside {
                        enter(lane.x);
                    }
                }
                Route::Own => {}
            }
        }
        for (node, card) in parts.cards.iter().enumerate() {
            for (claims, is_leaving) in [(&below[node], true), (&above[node], false)] {
                let towards: Vec<f64> = claims.iter().map(|claim| claim.towards).collect();
                for (claim, place) in claims.iter().zip(ports::along(card.outline, &towards)) {
                    match (claim.link, is_leaving) {
                        (Some(link), true) => ports.leave[link] = place,
                        (Some(link), false) => ports.enter[link] = place,
                        (None, _) => ports.start = place,
                    }
                }
            }
        }
        ports.set_sides(parts, columns);
        ports
    }

    /// Sets the ports of lanes that turn at a node's side: those going up above those going down, without crossings.
    fn set_sides(&mut self, parts: &Parts, columns: &Columns) {
        let mut sides: Vec<[Vec<(f64, usize, bool)>; 2]> =
            parts.cards.iter().map(|_| [Vec::new(), Vec::new()]).collect();
        for way in &columns.ways {
            let Route::Back(lane) = way else { continue };
            let link = &parts.graph.links[lane.link];
            let side = usize::from(lane.side == LaneSide::Right);
            let far = |node: usize| (lane.x - columns.x[node]).abs();
            if lane.leave == LaneTurn::Beside {
                sides[link.from][side].push((far(link.from), lane.link, true));
            }
            if lane.enter == LaneTurn::Beside {
                sides[link.to][side].push((-far(link.to), lane.link, false));
            }
        }
        for (node, card) in parts.cards.iter().enumerate() {
            for side in &mut sides[node] {
                side.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.total_cmp(&b.0)));
                for (&(_, link, is_leaving), dy) in
                    side.iter().zip(ports::beside(card.outline, side.len()))
                {
                    let ports = if is_leaving { &mut self.leave } else { &mut self.enter };
                    ports[link] = dy;
                }
            }
        }
    }
}

struct Router<'r, 'g, 'a> {
    parts: &'r Parts<'g, 'a>,
    columns: &'r Columns,
    levels: &'r Levels,
    ports: Ports,
}

impl Router<'_, '_, '_> {
    fn centre(&self, node: usize) -> Point {
        Point::new(self.columns.x[node], self.levels.middle(self.columns.band[node]))
    }

    fn half_height(&self, node: usize) -> f64 {
        self.parts.cards[node].outline.height / 2.0
    }

    /// Returns the last knots into the top of a node, and the tip.
    fn arrive(&self, node: usize, port: f64) -> ([Knot; 2], EdgeEnd) {
        let centre = self.centre(node);
        let tip = Point::new(centre.x + port, centre.y - self.half_height(node));
        let turn = self.levels.top(self.columns.band[node]) - STUB;
        let knots = [Knot::vertical(tip.x, turn), Knot::vertical(tip.x, tip.y - ARROW)];
        (knots, EdgeEnd { at: tip, heading: Heading::Down })
    }

    /// Returns knots straight through a band. All edges bend in the same part of a gap, so those in order never cross.
    fn pass(&self, band: usize, x: f64) -> [Knot; 2] {
        let stub = if self.columns.rows.has_no_node(band) { 0.0 } else { STUB };
        let (top, end) = (self.levels.top(band) - stub, self.levels.end(band) + stub);
        [Knot::vertical(x, top), Knot::vertical(x, end)]
    }

    /// Returns true if nothing else in a band of labels is near the route of a link from one x to another.
    fn is_alone(&self, band: usize, link: usize, from: f64, to: f64) -> bool {
        let (left, right) = (from.min(to), from.max(to));
        let mut others = self.columns.rows.band(band).iter().filter(|item| item.owner != link);
        self.columns.rows.has_no_node(band) && !others.any(|item| item.blocks(left, right))
    }

    fn down(&self, link: usize, down: &Down) -> PlacedEdge {
        let ends = &self.parts.graph.links[link];
        let centre = self.centre(ends.from);
        let tail =
            Point::new(centre.x + self.ports.leave[link], centre.y + self.half_height(ends.from));
        let from_band = self.columns.band[ends.from];
        let turn = self.levels.end(from_band) + STUB;
        let (arrival, tip) = self.arrive(ends.to, self.ports.enter[link]);

        let mut knots = vec![Knot::vertical(tail.x, tail.y), Knot::vertical(tail.x, turn)];
        let mut label_knot = None;
        for (at, &x) in down.bends.iter().enumerate() {
            let band = from_band + 1 + at;
            let next = down.bends.get(at + 1).copied().unwrap_or(tip.at.x);
            let last = knots.last().map_or(x, |knot| knot.at.x);
            // If the path moves steadily to one side, a vertical piece at the label would look like a kink.
            let goes_on =
                (x - last) * (next - x) > 0.0 && (x - last).abs().min((next - x).abs()) > 12.0;
            if goes_on && band == down.label_band && self.is_alone(band, link, last, next) {
                label_knot = Some(knots.len());
                knots.push(Knot::vertical(x, self.levels.middle(band)));
            } else {
                knots.extend(self.pass(band, x));
            }
        }
        knots.extend(arrival);
        if let Some(at) = label_knot {
            lean(&mut knots, at);
        }
        let label_at = match down.bends.get(down.label_band - from_band - 1) {
            Some(&x) => Point::new(x, self.levels.middle(down.label_band)),
            None => Point::new((tail.x + tip.at.x) / 2.0, (tail.y + tip.at.y) / 2.0),
        };
        PlacedEdge {
            path: SvgPath::flowing(&knots),
            tail: EdgeEnd { at: tail, heading: Heading::Down },
            tip,
            label: self.parts.labels[link].clone(),
            label_at,
        }
    }

    fn back(&self, link: usize, lane: &Lane) -> PlacedEdge {
        let ends = &self.parts.graph.links[link];
        let (outwards, inwards) = match lane.side {
            LaneSide::Left => (Heading::Left, Heading::Right),
            LaneSide::Right => (Heading::Right, Heading::Left),
        };
        let mut corners = Vec::with_capacity(6);
        let tail = self.meet(ends.from, self.ports.leave[link], lane, lane.leave, outwards, 1.0);
        corners.push(tail.at);
        match lane.leave {
            LaneTurn::Beside => corners.push(Point::new(lane.x, tail.at.y)),
            LaneTurn::Gap(level) => {
                let y = self.levels.track(self.columns.band[ends.from] + 1, level);
                corners.extend([Point::new(tail.at.x, y), Point::new(lane.x, y)]);
            }
        }
        let tip = self.meet(ends.to, self.ports.enter[link], lane, lane.enter, inwards, -1.0);
        match lane.enter {
            LaneTurn::Beside => {
                corners.push(Point::new(lane.x, tip.at.y));
                corners.push(Point::new(tip.at.x + lane.side.sign() * ARROW, tip.at.y));
            }
            LaneTurn::Gap(level) => {
                let y = self.levels.track(self.columns.band[ends.to], level);
                corners.extend([Point::new(lane.x, y), Point::new(tip.at.x, y)]);
                corners.push(Point::new(tip.at.x, tip.at.y - ARROW));
            }
        }
        PlacedEdge {
            path: SvgPath::square(&corners, LOOP_CORNER),
            tail,
            tip,
            label: self.parts.labels[link].clone(),
            label_at: Point::new(lane.x, self.levels.middle(lane.label_band)),
        }
    }

    /// Returns the point at which a lane touches a node: at its side, or at the bottom (`1.0`) or top (`-1.0`).
    fn meet(
        &self,
        node: usize,
        port: f64,
        lane: &Lane,
        turn: LaneTurn,
        sideways: Heading,
        end: f64,
    ) -> EdgeEnd {
        let centre = self.centre(node);
        match turn {
            LaneTurn::Beside => {
                let reach = self.parts.cards[node].outline.reach(port) * lane.side.sign();
                EdgeEnd { at: Point::new(centre.x + reach, centre.y + port), heading: sideways }
            }
            LaneTurn::Gap(_) => {
                let y = centre.y + end * self.half_height(node);
                EdgeEnd { at: Point::new(centre.x + port, y), heading: Heading::Down }
            }
        }
    }

    /// Routes a node's own loop at its right side, `y` from its centre.
    fn own(&self, link: usize, y: f64) -> PlacedEdge {
        let node = self.parts.graph.links[link].from;
        let outline = self.parts.cards[node].outline;
        let centre = self.centre(node);
        let half = 8.0;
        let border = |dy: f64| Point::new(centre.x + outline.reach(dy), centre.y + dy);
        let (tail, tip) = (border(y - half), border(y + half));
        let out = centre.x + outline.width / 2.0 + OWN_LOOP;
        let corners = [
            tail,
            Point::new(out, tail.y),
            Point::new(out, tip.y),
            Point::new(tip.x + ARROW, tip.y),
        ];
        let label = self.parts.labels[link].clone();
        let label_at = Point::new(out + 6.0 + label.width / 2.0, centre.y + y);
        PlacedEdge {
            path: SvgPath::square(&corners, LOOP_CORNER),
            tail: EdgeEnd { at: tail, heading: Heading::Right },
            tip: EdgeEnd { at: tip, heading: Heading::Left },
            label,
            label_at,
        }
    }

    fn start(&self) -> Option<StartDot> {
        let (entry, start) = (self.parts.graph.entry?, self.columns.start.as_ref()?);
        let centre = Point::new(start.x, self.levels.middle(start.band));
        let (arrival, tip) = self.arrive(entry, self.ports.start);
        let mut knots = vec![Knot::vertical(centre.x, centre.y + START_DOT / 2.0)];
        for (at, &x) in start.bends.iter().enumerate() {
            knots.extend(self.pass(start.band + 1 + at, x));
        }
        knots.extend(arrival);
        Some(StartDot { centre, path: SvgPath::flowing(&knots), tip })
    }
}

/// Slants a path at its label.
fn lean(knots: &mut [Knot], at: usize) {
    let slope = |a: Point, b: Point| (b.x - a.x) / (b.y - a.y).max(1.0);
    let Some([before, here, after]) =
        at.checked_sub(1).and_then(|first| knots.get_mut(first..first + 3))
    else {
        return;
    };
    let (above, below) = (slope(before.at, here.at), slope(here.at, after.at));
    if above * below > 0.0 {
        here.slope = above.signum() * above.abs().min(below.abs()).min(MOST_LEAN);
    }
}
