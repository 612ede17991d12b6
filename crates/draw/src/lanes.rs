//! Routes of edges that lead back: a vertical lane beside everything between their two nodes.

use super::rows::{BandItem, ItemKind, Rows};

/// Distance of the first tried lane from its nodes.
const LANE_GAP: f64 = 24.0;
/// Cost of a turn through the gap compared with a turn at the node's side, in pixels of lane.
const GAP_TURN_COST: f64 = 90.0;
/// Cost of crossing another edge.
const CROSSING_COST: f64 = 36.0;
/// Maximum number of positions that are tried before a lane goes around everything, and of items that are examined for
/// all lanes together: dense graphs must stay fast.
const MOST_TRIES: usize = 60;
const MOST_LOOKS: usize = 20_000_000;
/// Maximum number of items for lanes. Up to it, the short lanes occupy every band that they pass; the others only those
/// in which they turn.
const MOST_PLACES: usize = 100_000;
/// Number of bands tried for a label at each of these positions.
const MOST_LABEL_BANDS: usize = 5;

/// Link that leads back and needs a lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReturnLink {
    pub(super) link: usize,
    /// Node that it leaves: the lower one.
    pub(super) from: Stand,
    /// Node that it enters: the upper one.
    pub(super) to: Stand,
    pub(super) label: f64,
}

/// Position of a node in its band.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stand {
    pub(super) band: usize,
    pub(super) x: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    /// True if the node's own loops occupy its right side.
    pub(super) right_is_taken: bool,
}

/// Route of a [`ReturnLink`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    pub(super) link: usize,
    pub(super) side: LaneSide,
    pub(super) x: f64,
    pub(super) label_band: usize,
    pub(super) leave: LaneTurn,
    pub(super) enter: LaneTurn,
}

/// Side of its nodes that a lane runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneSide {
    Left,
    Right,
}

impl LaneSide {
    /// Returns the factor that turns x into the distance towards this side.
    pub(super) fn sign(self) -> f64 {
        match self {
            LaneSide::Left => -1.0,
            LaneSide::Right => 1.0,
        }
    }
}

/// Connection of a lane to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneTurn {
    /// At the node's side.
    Beside,
    /// Through the gap below (leaving) or above (entering), on the track of this number, because an item is in between.
    Gap(usize),
}

/// Tracks in the gaps between bands: gap `g` lies above band `g`.
#[derive(Debug)]
pub(super) struct Tracks {
    gaps: Vec<Vec<Vec<(f64, f64)>>>,
}

impl Tracks {
    fn new(bands: usize) -> Tracks {
        Tracks { gaps: vec![Vec::new(); bands + 1] }
    }

    /// Returns the number of tracks in a gap.
    pub(super) fn count(&self, gap: usize) -> usize {
        self.gaps.get(gap).map_or(0, Vec::len)
    }

    fn take(&mut self, gap: usize, a: f64, b: f64) -> usize {
        let Some(tracks) = self.gaps.get_mut(gap) else { return 0 };
        let (left, right) = (a.min(b) - 10.0, a.max(b) + 10.0);
        let is_free =
            |track: &Vec<(f64, f64)>| track.iter().all(|taken| right < taken.0 || left > taken.1);
        let level = tracks.iter().position(is_free).unwrap_or(tracks.len());
        match tracks.get_mut(level) {
            Some(track) => track.push((left, right)),
            None => tracks.push(vec![(left, right)]),
        }
        level
    }
}

/// Finds a lane for every return, the short ones first so that loops nest, and adds them to the rows.
pub(super) fn find(
    rows: &mut Rows,
    bands: usize,
    mut returns: Vec<ReturnLink>,
) -> (Vec<Lane>, Tracks) {
    returns.sort_by_key(|back| (back.from.band.saturating_sub(back.to.band), back.link));
    let mut tracks = Tracks::new(bands);
    let places = |back: &ReturnLink| back.from.band.abs_diff(back.to.band) + 1;
    let wanted: usize = returns.iter().map(places).sum();
    let looks = (rows.len() + wanted.min(MOST_PLACES)).max(1) * returns.len().max(1);
    let tries = (MOST_LOOKS / looks).min(MOST_TRIES);
    let mut taken = 0;
    let lanes = returns.iter().map(|back| {
        let right = LaneOffer::of(rows, back, LaneSide::Right, tries);
        let left = LaneOffer::of(rows, back, LaneSide::Left, tries);
        let offer = if left.cost + 1.0 < right.cost { left } else { right };
        taken += places(back);
        offer.accept(rows, &mut tracks, back, taken <= MOST_PLACES)
    });
    let lanes = lanes.collect();
    (lanes, tracks)
}

/// Possible lane and its cost.
struct LaneOffer {
    side: LaneSide,
    x: f64,
    label_band: usize,
    leaves_beside: bool,
    enters_beside: bool,
    cost: f64,
}

impl LaneOffer {
    fn of(rows: &Rows, back: &ReturnLink, side: LaneSide, tries: usize) -> LaneOffer {
        let sign = side.sign();
        let edge = |stand: &Stand| if side == LaneSide::Right { stand.right } else { -stand.left };
        let nearest = edge(&back.from).max(edge(&back.to)) + LANE_GAP;
        let (out, label_band) = clear_lane(rows, back, sign, nearest, tries);
        let is_beside = |stand: &Stand| {
            let taken = side == LaneSide::Right && stand.right_is_taken;
            !taken && is_open(rows.band(stand.band), sign, edge(stand), out)
        };
        let (leaves_beside, enters_beside) = (is_beside(&back.from), is_beside(&back.to));
        let gap_turns = f64::from(u8::from(!leaves_beside) + u8::from(!enters_beside));
        let crossed = [back.from, back.to]
            .map(|stand| crossings(rows.band(stand.band), sign, edge(&stand), out));
        let length = 2.0 * out - edge(&back.from) - edge(&back.to);
        let cost = length + gap_turns * GAP_TURN_COST + crossed.iter().sum::<f64>() * CROSSING_COST;
        LaneOffer { side, x: out * sign, label_band, leaves_beside, enters_beside, cost }
    }

    fn accept(
        self,
        rows: &mut Rows,
        tracks: &mut Tracks,
        back: &ReturnLink,
        takes_all_bands: bool,
    ) -> Lane {
        let (x, link) = (self.x, back.link);
        let (top, bottom) = (back.to.band, back.from.band);
        let step = if takes_all_bands { 1 } else { bottom.saturating_sub(top).max(1) };
        for band in (top..=bottom).step_by(step) {
            rows.add(band, BandItem::way(x, link));
        }
        rows.add(self.label_band, BandItem::label(x, back.label, link));
        let mut turn = |beside: bool, gap: usize, node: f64| match beside {
            true => LaneTurn::Beside,
            false => LaneTurn::Gap(tracks.take(gap, node, x)),
        };
        let leave = turn(self.leaves_beside, back.from.band + 1, back.from.x);
        let enter = turn(self.enters_beside, back.to.band, back.to.x);
        Lane { link, side: self.side, x, label_band: self.label_band, leave, enter }
    }
}

/// Returns true if only routes of other edges lie between a node's side and the lane.
fn is_open(row: &[BandItem], sign: f64, side: f64, lane: f64) -> bool {
    let stands_between = |item: &BandItem| {
        let near = (item.left * sign).min(item.right * sign);
        near > side - 1.0 && near < lane
    };
    !row.iter().any(|item| item.kind != ItemKind::Route && stands_between(item))
}

/// Counts the routes between a node's side and the lane.
fn crossings(row: &[BandItem], sign: f64, side: f64, lane: f64) -> f64 {
    let passes = |item: &&BandItem| {
        item.kind == ItemKind::Route && (side..lane).contains(&(item.left * sign))
    };
    row.iter().filter(passes).count() as f64
}

/// Finds the first distance from `nearest` outwards at which the lane and its label touch nothing.
fn clear_lane(
    rows: &Rows,
    back: &ReturnLink,
    sign: f64,
    nearest: f64,
    tries: usize,
) -> (f64, usize) {
    let (top, bottom) = (back.to.band, back.from.band);
    let label_bands = label_bands(rows, top, bottom);
    let mut out = nearest;
    for _ in 0..tries {
        let in_the_way = (top..=bottom).flat_map(|band| rows.band(band));
        let mut blocked = in_the_way.filter(|item| item.blocks(out * sign, out * sign));
        if let Some(item) = blocked.next() {
            out = beyond(item, sign).max(out + 1.0);
            continue;
        }
        let label = BandItem::label(out * sign, back.label, back.link);
        if let Some(&band) = label_bands.iter().find(|&&band| rows.has_room(band, label)) {
            return (out, band);
        }
        out += 10.0;
    }
    let (left, right) = rows.extent(top..=bottom).unwrap_or_default();
    let outermost = (left * sign).max(right * sign) + LANE_GAP;
    (outermost.max(nearest) + back.label / 2.0, label_bands.first().copied().unwrap_or(top))
}

/// Returns the nearest position beyond an item that it does not block.
fn beyond(item: &BandItem, sign: f64) -> f64 {
    (item.left * sign).max(item.right * sign) + item.margin() + 0.5
}

/// Returns the bands for a label, from the middle outwards; bands with nodes only if there are no others.
fn label_bands(rows: &Rows, top: usize, bottom: usize) -> Vec<usize> {
    let (upper, lower) = ((top + bottom) / 2, (top + bottom).div_ceil(2));
    let outwards = (0..upper.saturating_sub(top)).flat_map(|step| {
        let is_one = upper == lower && step == 0;
        [upper - step, lower + step].into_iter().take(if is_one { 1 } else { 2 })
    });
    let free = outwards.clone().filter(|&band| rows.has_no_node(band));
    let bands: Vec<usize> = free.take(MOST_LABEL_BANDS).collect();
    if bands.is_empty() { outwards.take(MOST_LABEL_BANDS).collect() } else { bands }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_long_lanes_take_no_more_places_than_there_are() {
        let bands = 4_000;
        let stand = |band| Stand { band, x: 0.0, left: -50.0, right: 50.0, right_is_taken: false };
        let back = |link| ReturnLink { link, from: stand(bands - 1), to: stand(0), label: 40.0 };
        let mut rows = Rows::new(bands);
        let (lanes, _) = find(&mut rows, bands, (0..2_000).map(back).collect());
        assert_eq!(lanes.len(), 2_000);
        // Each lane also has its two ends and its label.
        assert!(rows.len() <= MOST_PLACES + 3 * 2_000, "{}", rows.len());
    }
}
