//! Ports: points at which edges touch a node, spread along its border in the order of their targets.

use super::shape::Outline;
use super::spread::spread;

/// Minimum distance between two edges at one border.
const APART: f64 = 16.0;
/// Distance from the middle at which edges to far targets start; edges to nearer targets start straight above them.
const FAR: f64 = 44.0;
const APART_BESIDE: f64 = 13.0;

/// Returns the ports at the top or bottom border of edges towards the given x, relative to the node's centre.
pub(super) fn along(outline: Outline, towards: &[f64]) -> Vec<f64> {
    let flat = outline.flat();
    let count = towards.len();
    if count < 2 {
        return vec![0.0; count];
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| towards[a].total_cmp(&towards[b]));
    let even = 2.0 * flat / (count - 1) as f64;
    let spaced: Vec<f64> = if even <= APART {
        (0..count).map(|at| at as f64 * even - flat).collect()
    } else {
        let sorted: Vec<f64> = order.iter().map(|&edge| towards[edge]).collect();
        let is_near = |at: usize| sorted[at].abs() <= flat;
        let wanted: Vec<f64> = (0..count).map(|at| target(&sorted, at, flat)).collect();
        // Edges that can be straight stay straight, the others make room.
        spread(&wanted, |at| if is_near(at) { 500.0 } else { 1.0 }, |_| APART)
    };
    let mut places = vec![0.0; count];
    for (at, (&edge, place)) in order.iter().zip(spaced).enumerate() {
        // The bounds are as far apart as the ports themselves: clamping brings no two closer.
        let apart = APART.min(even);
        let (least, most) = (at as f64 * apart - flat, flat - (count - 1 - at) as f64 * apart);
        places[edge] = place.max(least).min(most);
    }
    places
}

/// Returns the port of an edge that is alone on its side: straight above its target, or around [`FAR`] with the others
/// that lead far away in the same direction, but never beyond the flat part.
fn target(sorted: &[f64], at: usize, flat: f64) -> f64 {
    let x = sorted[at];
    if x.abs() <= flat {
        return x;
    }
    let is_far = |other: &&f64| other.abs() > flat && other.signum() == x.signum();
    let group = sorted.iter().filter(is_far).count() as f64;
    let further_out =
        sorted.iter().filter(is_far).filter(|other| other.abs() > x.abs()).count() as f64;
    let middle = FAR.min(flat - (group - 1.0) / 2.0 * APART);
    (middle + ((group - 1.0) / 2.0 - further_out) * APART).copysign(x)
}

/// Returns the ports at a side border, relative to the node's centre, from top to bottom.
pub(super) fn beside(outline: Outline, count: usize) -> Vec<f64> {
    let gaps = count.saturating_sub(1).max(1) as f64;
    let apart = APART_BESIDE.min(outline.height * 0.6 / gaps);
    let middle = count.saturating_sub(1) as f64 / 2.0;
    (0..count).map(|at| (at as f64 - middle) * apart).collect()
}
