//! Horizontal layout: the x of nodes, edges, labels and lanes, and the band each is in.

use super::graph::LinkDirection;
use super::lanes::{self, Lane, ReturnLink, Stand, Tracks};
use super::net::{Arc, Net, Placed};
use super::parts::{Parts, START_DOT};
use super::place::place;
use super::rows::{BandItem, ItemKind, Rows};

/// Minimum distance of nodes and labels in one band, whatever the placement did.
const LEAST_GAP: f64 = 12.0;

/// Maximum number of bands between the start of an edge and its label.
const BANDS_TRIED: usize = 4;

/// Columns of a picture. Lists are indexed like the graph's nodes or links.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) bands: usize,
    pub(super) band: Vec<usize>,
    pub(super) x: Vec<f64>,
    pub(super) ways: Vec<Route>,
    pub(super) start: Option<StartColumn>,
    pub(super) rows: Rows,
    pub(super) tracks: Tracks,
}

/// Route of a link.
#[derive(Debug)]
pub(super) enum Route {
    Down(Down),
    Back(Lane),
    /// Around the side of its only node.
    Own,
}

impl Route {
    pub(super) fn down(&self) -> Option<&Down> {
        match self {
            Route::Down(down) => Some(down),
            Route::Back(_) | Route::Own => None,
        }
    }
}

/// Route down, through the bands between its nodes.
#[derive(Debug)]
pub(super) struct Down {
    /// The x in each of those bands, from top to bottom; empty for a straight line behind everything.
    pub(super) bends: Vec<f64>,
    pub(super) label_band: usize,
}

/// Start dot, and the route from it to the entry.
#[derive(Debug)]
pub(super) struct StartColumn {
    pub(super) band: usize,
    pub(super) x: f64,
    pub(super) bends: Vec<f64>,
}

impl Columns {
    pub(super) fn of(parts: &Parts) -> Columns {
        let net = net(parts);
        let mut placed = place(&net);
        separate(&net, &mut placed);

        let bands = placed.bands;
        let (start, mut downs) = ways_down(parts, &net, &mut placed);
        // The start dot is the first node of the net; only the other nodes are used below.
        let band = placed.band.split_off(usize::from(start.is_some()));
        let x = placed.x.split_off(usize::from(start.is_some()));
        let mut rows = rows(parts, bands, &band, &x, start.as_ref(), &downs);
        move_labels_up(parts, &band, &mut rows, &mut downs);

        let (lanes, tracks) = lanes::find(&mut rows, bands, returns(parts, &band, &x));
        let mut ways: Vec<Route> =
            downs.into_iter().map(|down| down.map_or(Route::Own, Route::Down)).collect();
        for lane in lanes {
            ways[lane.link] = Route::Back(lane);
        }
        Columns { bands, band, x, ways, start, rows, tracks }
    }

    /// Moves everything to the right by `by`.
    pub(super) fn shift(&mut self, by: f64) {
        self.x.iter_mut().for_each(|x| *x += by);
        self.rows.shift(by);
        if let Some(start) = &mut self.start {
            start.x += by;
            start.bends.iter_mut().for_each(|x| *x += by);
        }
        for way in &mut self.ways {
            match way {
                Route::Down(down) => down.bends.iter_mut().for_each(|x| *x += by),
                Route::Back(lane) => lane.x += by,
                Route::Own => {}
            }
        }
    }
}

/// Builds the net of the forward links, with the start dot as a node in front of the entry.
fn net(parts: &Parts) -> Net {
    let graph = parts.graph;
    let shift = usize::from(graph.entry.is_some());
    let mut widths: Vec<f64> = graph.entry.iter().map(|_| START_DOT).collect();
    // Both sides reserve space for own loops, because `dagre` centres a node on its width.
    widths.extend(
        parts.cards.iter().zip(&parts.own).map(|(card, own)| card.outline.width + 2.0 * own),
    );
    let links = graph
        .links
        .iter()
        .zip(&parts.labels)
        .filter(|(link, _)| link.flow == LinkDirection::Forward);
    let mut arcs: Vec<Arc> = links
        .map(|(link, label)| Arc {
            from: link.from + shift,
            to: link.to + shift,
            label: label.width,
            weight: if link.edge.is_default { 2 } else { 1 },
        })
        .collect();
    arcs.extend(graph.entry.map(|entry| Arc { from: 0, to: entry + shift, label: 0.0, weight: 4 }));
    Net { widths, arcs }
}

/// Pushes nodes and labels of one band apart if they are too close.
fn separate(net: &Net, placed: &mut Placed) {
    enum Whose {
        Node(usize),
        Label(usize, usize),
    }
    let mut bands: Vec<Vec<(f64, f64, Whose)>> = (0..placed.bands).map(|_| Vec::new()).collect();
    for (node, &width) in net.widths.iter().enumerate() {
        bands[placed.band[node]].push((placed.x[node], width, Whose::Node(node)));
    }
    for (at, arc) in net.arcs.iter().enumerate() {
        let band = placed.label_band(arc);
        let bend = band - placed.band[arc.from] - 1;
        if let Some(&x) = placed.bends[at].get(bend) {
            bands[band].push((x, arc.label, Whose::Label(at, bend)));
        }
    }
    for band in &mut bands {
        band.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free_from = f64::NEG_INFINITY;
        for (x, width, whose) in band {
            let pushed = x.max(free_from + *width / 2.0);
            free_from = pushed + *width / 2.0 + LEAST_GAP;
            match *whose {
                Whose::Node(node) => placed.x[node] = pushed,
                Whose::Label(arc, bend) => placed.bends[arc][bend] = pushed,
            }
        }
    }
}

fn ways_down(
    parts: &Parts,
    net: &Net,
    placed: &mut Placed,
) -> (Option<StartColumn>, Vec<Option<Down>>) {
    let mut arcs = net.arcs.iter().enumerate();
    let downs = parts.graph.links.iter().map(|link| match link.flow {
        LinkDirection::Forward => arcs.next().map(|(at, arc)| Down {
            bends: std::mem::take(&mut placed.bends[at]),
            label_band: placed.label_band(arc),
        }),
        LinkDirection::Back | LinkDirection::Own => None,
    });
    let downs = downs.collect();
    let start = arcs.next().map(|(at, arc)| StartColumn {
        band: placed.band[arc.from],
        x: placed.x[arc.from],
        bends: std::mem::take(&mut placed.bends[at]),
    });
    (start, downs)
}

/// Lists the items of every band after the placement.
fn rows(
    parts: &Parts,
    bands: usize,
    band: &[usize],
    x: &[f64],
    start: Option<&StartColumn>,
    downs: &[Option<Down>],
) -> Rows {
    let mut rows = Rows::new(bands);
    for (node, card) in parts.cards.iter().enumerate() {
        let half = card.outline.width / 2.0;
        let (left, right) = (x[node] - half, x[node] + half + parts.own[node]);
        rows.add(band[node], BandItem { left, right, kind: ItemKind::Node, owner: node });
    }
    if let Some(start) = start {
        let (left, right) = (start.x - START_DOT / 2.0, start.x + START_DOT / 2.0);
        let owner = parts.cards.len();
        rows.add(start.band, BandItem { left, right, kind: ItemKind::Node, owner });
        for (at, &x) in start.bends.iter().enumerate() {
            rows.add(start.band + 1 + at, BandItem::way(x, parts.labels.len()));
        }
    }
    for (link, down) in downs.iter().enumerate() {
        let Some(down) = down else { continue };
        let first = band[parts.graph.links[link].from] + 1;
        for (at, &x) in down.bends.iter().enumerate() {
            rows.add(first + at, BandItem::way(x, link));
        }
        if let Some(&x) = down.bends.get(down.label_band - first) {
            rows.add(down.label_band, BandItem::label(x, parts.labels[link].width, link));
        }
    }
    rows
}

/// Moves the labels of long edges to their start if there is space, because the choice is made there.
fn move_labels_up(parts: &Parts, band: &[usize], rows: &mut Rows, downs: &mut [Option<Down>]) {
    for (link, down) in downs.iter_mut().enumerate() {
        let Some(down) = down else { continue };
        let first = band[parts.graph.links[link].from] + 1;
        for (at, &x) in down.bends.iter().enumerate().take(BANDS_TRIED) {
            let candidate = first + at;
            if candidate == down.label_band {
                break;
            }
            let label = BandItem::label(x, parts.labels[link].width, link);
            if rows.has_no_node(candidate) && rows.has_room(candidate, label) {
                rows.remove_label(down.label_band, link);
                rows.add(candidate, label);
                down.label_band = candidate;
                break;
            }
        }
    }
}

fn returns(parts: &Parts, band: &[usize], x: &[f64]) -> Vec<ReturnLink> {
    let stand = |node: usize| {
        let half = parts.cards[node].outline.width / 2.0;
        Stand {
            band: band[node],
            x: x[node],
            left: x[node] - half,
            right: x[node] + half + parts.own[node],
            right_is_taken: parts.own[node] > 0.0,
        }
    };
    let links = parts.graph.links.iter().enumerate();
    let back = links.filter(|(_, link)| link.flow == LinkDirection::Back);
    back.map(|(at, link)| ReturnLink {
        link: at,
        from: stand(link.from),
        to: stand(link.to),
        label: parts.labels[at].width,
    })
    .collect()
}
