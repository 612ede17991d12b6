//! Geometry of pictures: no overlaps, whatever the graph.

use super::Diagram;
use super::layout::{Layout, MOST_EDGES, PlacedNode};
use super::parts::{Heading, LabelContent};
use super::path::Point;
use super::spread::spread;
use super::tests::{diagram, edge, hostile, node, review_loop, text};
use super::{NodeShape, NodeShape::*, Theme, json, svg};

/// Lays a diagram out as the SVG does, with conditions.
fn picture(diagram: &Diagram) -> Layout<'_> {
    Layout::of(diagram, LabelContent::NameAndCondition)
}

/// Small deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

const KINDS: [NodeShape; 5] = [Step, Decision, Merge, End, Subworkflow];
const CONDITIONS: [&str; 3] = [
    "score < 3",
    "the reviewer is content with every chapter and nobody has open questions",
    "需要更多资料",
];
const WORDS: [&str; 5] =
    ["Draft", "生成报告", "Update the sprint status file", "", "Ask for approval"];
const LABELS: [&str; 5] =
    ["next", "ok", "需要修改", "the scope is clear and can be tested by anyone", "again"];

/// Returns a random graph: cycles, parallel edges, own loops, islands.
fn tangle(nodes: usize, edges: usize, seed: u64) -> Diagram {
    let mut dice = Dice(seed);
    let all = (0..nodes).map(|at| {
        let mut one = node(&format!("n{at}"), WORDS[dice.below(5)], KINDS[dice.below(5)]);
        one.agent = (dice.below(2) == 0).then(|| "bob".to_owned());
        one
    });
    let all = all.collect();
    let ways = (0..edges).map(|_| {
        let (from, to) = (dice.below(nodes), dice.below(nodes));
        let mut way = edge(&format!("n{from}"), &format!("n{to}"), LABELS[dice.below(5)]);
        way.is_default = dice.below(3) == 0;
        way.condition = CONDITIONS.get(dice.below(6)).map(|condition| text(condition));
        way
    });
    diagram(all, ways.collect())
}

/// Returns a typical graph: a line with branches, shortcuts and loops.
fn workflow(nodes: usize, seed: u64) -> Diagram {
    let mut dice = Dice(seed);
    let mut plain = tangle(nodes, 0, seed);
    for at in 0..nodes.saturating_sub(1) {
        let mut add = |to: usize, label: &str| {
            let mut way = edge(&format!("n{at}"), &format!("n{to}"), label);
            way.condition = CONDITIONS.get((at + to) % 5).map(|condition| text(condition));
            plain.edges.push(way);
        };
        add(at + 1, "next");
        match dice.below(6) {
            0 => add((at + 2 + dice.below(5)).min(nodes - 1), LABELS[dice.below(5)]),
            1 => add(at - dice.below(5).min(at), LABELS[dice.below(5)]),
            _ => {}
        }
    }
    plain
}

fn chain(nodes: usize) -> Diagram {
    let mut plain = tangle(nodes, 0, 1);
    plain.edges =
        (1..nodes).map(|at| edge(&format!("n{}", at - 1), &format!("n{at}"), "next")).collect();
    plain
}

fn examples() -> Vec<Diagram> {
    let generated = (0..40).flat_map(|seed| {
        let size = 2 + seed as usize % 14;
        [workflow(size * 2, seed), tangle(size, size + size / 2, seed)]
    });
    let several = |diagram: &Diagram| {
        let mut doubled = diagram.clone();
        doubled.edges.extend(diagram.edges.clone());
        doubled
    };
    [review_loop(), hostile(), several(&review_loop())].into_iter().chain(generated).collect()
}

#[derive(Debug, Clone, Copy)]
struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rect {
    fn of_node(node: &PlacedNode) -> Rect {
        let (Point { x, y }, outline) = (node.corner, node.card.outline);
        Rect { left: x, top: y, right: x + outline.width, bottom: y + outline.height }
    }

    fn overlaps(self, other: Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn contains(self, point: Point) -> bool {
        let (inside_x, inside_y) =
            (self.left + 0.5..self.right - 0.5, self.top + 0.5..self.bottom - 0.5);
        inside_x.contains(&point.x) && inside_y.contains(&point.y)
    }
}

fn labels(layout: &Layout) -> Vec<Rect> {
    let of = |edge: &super::parts::PlacedEdge| {
        let (Point { x, y }, w, h) =
            (edge.label_at, edge.label.width / 2.0, edge.label.height / 2.0);
        Rect { left: x - w, top: y - h, right: x + w, bottom: y + h }
    };
    layout.edges.iter().map(of).collect()
}

/// Returns points on a path of `M`, `L` and `C`, close together.
fn walk(data: &str) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for piece in data.split(['M', 'L', 'C']).skip(1) {
        let numbers: Vec<f64> =
            piece.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        let last = points.last().copied();
        let pairs: Vec<Point> =
            numbers.chunks(2).map(|pair| Point::new(pair[0], pair[1])).collect();
        let Some(from) = last else {
            points.extend(pairs);
            continue;
        };
        let to = pairs.last().copied().unwrap_or(from);
        let steps = 24 + ((to.x - from.x).abs() + (to.y - from.y).abs()) as u32 / 4;
        for step in 1..=steps {
            let t = f64::from(step) / f64::from(steps);
            let mix = |a: Point, b: Point| Point::new(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t);
            let mut row: Vec<Point> = std::iter::once(from).chain(pairs.iter().copied()).collect();
            while row.len() > 1 {
                row = row.windows(2).map(|pair| mix(pair[0], pair[1])).collect();
            }
            points.extend(row);
        }
    }
    points
}

fn check_nodes_apart(diagram: &Diagram) {
    let layout = picture(diagram);
    let mut nodes: Vec<Rect> = layout.nodes.iter().map(Rect::of_node).collect();
    nodes.sort_by(|a, b| a.top.total_cmp(&b.top));
    for (at, one) in nodes.iter().enumerate() {
        assert!(
            one.left >= 0.0
                && one.top >= 0.0
                && one.right <= layout.width
                && one.bottom <= layout.height
        );
        for other in nodes[at + 1..].iter().take_while(|other| other.top < one.bottom) {
            assert!(!one.overlaps(*other), "{one:?} {other:?}");
        }
    }
}

#[test]
fn nodes_never_overlap() {
    examples().iter().for_each(check_nodes_apart);
    check_nodes_apart(&workflow(300, 3));
    check_nodes_apart(&tangle(300, 400, 4));
    check_nodes_apart(&tangle(900, 1_100, 5));
}

#[test]
fn labels_cover_neither_nodes_nor_each_other() {
    for diagram in examples() {
        let layout = picture(&diagram);
        let labels = labels(&layout);
        for (at, label) in labels.iter().enumerate().filter(|(_, label)| label.left < label.right) {
            assert!(label.left >= 0.0 && label.right <= layout.width, "{label:?}");
            assert!(
                !layout.nodes.iter().any(|node| Rect::of_node(node).overlaps(*label)),
                "{label:?}"
            );
            assert!(!labels[at + 1..].iter().any(|other| other.overlaps(*label)), "{label:?}");
        }
    }
}

#[test]
fn edges_pass_neither_nodes_nor_labels_of_others() {
    for diagram in examples() {
        let layout = picture(&diagram);
        let labels = labels(&layout);
        for (at, (link, edge)) in layout.graph.links.iter().zip(&layout.edges).enumerate() {
            for point in walk(&edge.path.data) {
                for (node, placed) in layout.nodes.iter().enumerate() {
                    let is_end = node == link.from || node == link.to;
                    assert!(
                        is_end || !Rect::of_node(placed).contains(point),
                        "edge {at} in node {node} at {point:?}"
                    );
                }
                let hit = labels
                    .iter()
                    .enumerate()
                    .find(|(label, rect)| *label != at && rect.contains(point));
                assert!(hit.is_none(), "edge {at} under {hit:?}\n{diagram:?}");
            }
        }
    }
}

#[test]
fn edges_begin_and_end_at_the_outline_of_their_nodes() {
    for diagram in examples() {
        let layout = picture(&diagram);
        for (link, edge) in layout.graph.links.iter().zip(&layout.edges) {
            for (end, node) in [(edge.tail, link.from), (edge.tip, link.to)] {
                let PlacedNode { card, corner } = &layout.nodes[node];
                let outline = card.outline;
                let (dx, dy) = (
                    end.at.x - corner.x - outline.width / 2.0,
                    end.at.y - corner.y - outline.height / 2.0,
                );
                match end.heading {
                    Heading::Down => {
                        assert!(
                            (dy.abs() - outline.height / 2.0).abs() < 0.01
                                && dx.abs() <= outline.flat() + 0.01
                        );
                    }
                    Heading::Left | Heading::Right => {
                        assert!((dx.abs() - outline.reach(dy)).abs() < 0.01)
                    }
                }
            }
        }
    }
}

#[test]
fn edges_at_one_border_keep_their_distance() {
    for diagram in examples() {
        let layout = picture(&diagram);
        let mut tips: Vec<Point> = layout.edges.iter().map(|edge| edge.tip.at).collect();
        tips.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
        for pair in tips.windows(2) {
            assert!(
                (pair[0].x - pair[1].x).abs() + (pair[0].y - pair[1].y).abs() > 4.0,
                "{pair:?}"
            );
        }
    }
}

#[test]
fn forward_edges_lead_down_and_loops_lead_up() {
    let layout = picture(&review_loop()).edges.into_iter();
    let ways: Vec<bool> = layout.map(|edge| edge.tip.at.y > edge.tail.at.y).collect();
    assert_eq!(ways, [true, true, true, false, true]);
}

#[test]
fn branches_stand_in_the_order_of_the_file() {
    let names = ["a", "b", "c", "d"];
    let mut nodes = vec![node("start", "", Decision)];
    nodes.extend(names.map(|name| node(name, "", Step)));
    let edges = names.map(|name| edge("start", name, name)).to_vec();
    let placed =
        picture(&diagram(nodes, edges)).nodes.iter().map(|node| node.corner.x).collect::<Vec<_>>();
    assert!(placed[1..].is_sorted(), "{placed:?}");
}

#[test]
fn long_chains_and_cycles_need_no_deep_stack() {
    let mut cycle = chain(2_000);
    cycle.edges.push(edge("n1999", "n0", "again"));
    for diagram in [chain(390), chain(2_000), cycle, tangle(2_000, 2_500, 6), tangle(2_000, 0, 7)] {
        assert_eq!(
            svg(&diagram, Theme::Auto).matches(" data-node=\"").count(),
            diagram.nodes.len()
        );
    }
}

#[test]
fn many_edges_between_few_nodes_are_all_drawn() {
    let parallel = (0..120).map(|_| edge("n0", "n1", "go"));
    let back = (0..40).map(|_| edge("n1", "n0", "back"));
    let own = (0..40).map(|_| edge("n0", "n0", "stay"));
    let crowded = diagram(tangle(2, 0, 1).nodes, parallel.chain(back).chain(own).collect());
    assert_eq!(picture(&crowded).edges.len(), 200);
    check_nodes_apart(&crowded);
}

/// Returns a long chain, and edges from its last nodes to its first ones.
fn ladder(nodes: usize, back: usize) -> Diagram {
    let mut long = chain(nodes);
    let ways = (0..back).map(|at| {
        let (from, to) = (nodes - 1 - at % 100, at / 100 % 100);
        edge(&format!("n{from}"), &format!("n{to}"), "again")
    });
    long.edges.extend(ways);
    long
}

#[test]
fn of_a_hundred_thousand_edges_the_first_are_drawn() {
    let flood = ladder(2_000, 100_000);
    let layout = picture(&flood);
    assert_eq!((layout.nodes.len(), layout.edges.len()), (2_000, MOST_EDGES));
    assert_eq!(layout.left_out, flood.edges.len() - MOST_EDGES);
    assert!(
        svg(&flood, Theme::Auto)
            .contains(">Too many edges for a picture: 96999 more are not shown.<")
    );
    assert!(json(&flood).contains("\"leftOut\": 96999"));
}

#[test]
fn spread_keeps_order_and_distance() {
    let mut dice = Dice(9);
    for _ in 0..200 {
        let wanted: Vec<f64> = (0..dice.below(12)).map(|_| dice.below(100) as f64).collect();
        let placed = spread(&wanted, |_| 1.0, |_| 7.0);
        assert_eq!(placed.len(), wanted.len());
        assert!(placed.windows(2).all(|pair| pair[1] - pair[0] >= 7.0 - 1e-9), "{placed:?}");
    }
    assert_eq!(spread(&[0.0, 50.0], |_| 1.0, |_| 7.0), [0.0, 50.0]);
    assert_eq!(spread(&[10.0, 10.0], |_| 1.0, |_| 8.0), [6.0, 14.0]);
}
