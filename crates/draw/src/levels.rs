//! Vertical layout: the height of each band, and the space that edges need between bands.

use super::columns::{Columns, Route};
use super::parts::{Parts, START_DOT};

/// Gap between a band of nodes and one of labels.
const GAP: f64 = 26.0;
/// Gap at an empty band.
const NARROW_GAP: f64 = 15.0;
/// Extra gap per pixel that an edge moves sideways, so that it does not run flat.
const SLANT: f64 = 0.1;
const MOST_SLANT: f64 = 56.0;
/// Distance of a track from the band above it, and between tracks.
const TRACK_INSET: f64 = 14.0;
const TRACK: f64 = 10.0;

#[derive(Debug)]
pub(super) struct Levels {
    top: Vec<f64>,
    height: Vec<f64>,
    /// Top of the gap above every band, and of the one below the last.
    gap: Vec<f64>,
    pub(super) bottom: f64,
}

impl Levels {
    pub(super) fn of(parts: &Parts, columns: &Columns, first_top: f64) -> Levels {
        let height = heights(parts, columns);
        let slant = slants(parts, columns);
        let mut top = Vec::with_capacity(height.len());
        let mut gaps = Vec::with_capacity(height.len() + 1);
        let mut y = first_top;
        for gap in 0..=height.len() {
            gaps.push(y);
            let tracks = columns.tracks.count(gap) as f64;
            let is_outside = gap == 0 || gap == height.len();
            let is_narrow = !is_outside && (height[gap - 1] == 0.0 || height[gap] == 0.0);
            y += match (is_outside, is_narrow) {
                (true, _) if tracks > 0.0 => 2.0 * TRACK_INSET,
                (true, _) => 0.0,
                (false, true) => NARROW_GAP + slant[gap],
                (false, false) => GAP + slant[gap],
            };
            y += tracks * TRACK;
            if let Some(height) = height.get(gap) {
                top.push(y);
                y += height;
            }
        }
        Levels { top, height, gap: gaps, bottom: y }
    }

    pub(super) fn top(&self, band: usize) -> f64 {
        self.top.get(band).copied().unwrap_or(self.bottom)
    }

    pub(super) fn end(&self, band: usize) -> f64 {
        self.top(band) + self.height.get(band).copied().unwrap_or(0.0)
    }

    pub(super) fn middle(&self, band: usize) -> f64 {
        (self.top(band) + self.end(band)) / 2.0
    }

    /// Returns the y of a track in the gap above a band.
    pub(super) fn track(&self, gap: usize, level: usize) -> f64 {
        let from = self.gap.get(gap).copied().unwrap_or(self.bottom);
        from + TRACK_INSET + level as f64 * TRACK
    }
}

fn heights(parts: &Parts, columns: &Columns) -> Vec<f64> {
    let mut height = vec![0.0f64; columns.bands];
    let mut grow = |band: usize, needed: f64| {
        if let Some(height) = height.get_mut(band) {
            *height = height.max(needed);
        }
    };
    for (card, &band) in parts.cards.iter().zip(&columns.band) {
        grow(band, card.outline.height);
    }
    if let Some(start) = &columns.start {
        grow(start.band, START_DOT);
    }
    for (label, way) in parts.labels.iter().zip(&columns.ways) {
        match way {
            Route::Down(down) if down.bends.is_empty() => {}
            Route::Down(down) => grow(down.label_band, label.height),
            Route::Back(lane) => grow(lane.label_band, label.height),
            Route::Own => {}
        }
    }
    height
}

/// Computes the extra height of every gap from the sideways distance of its edges.
fn slants(parts: &Parts, columns: &Columns) -> Vec<f64> {
    let mut widest = vec![0.0f64; columns.bands + 1];
    for (link, way) in parts.graph.links.iter().zip(&columns.ways) {
        let Some(down) = way.down().filter(|down| !down.bends.is_empty()) else { continue };
        let mut last = columns.x[link.from];
        let ends = down.bends.iter().chain(std::iter::once(&columns.x[link.to]));
        for (gap, &x) in ends.enumerate() {
            if let Some(widest) = widest.get_mut(columns.band[link.from] + 1 + gap) {
                *widest = widest.max((x - last).abs());
            }
            last = x;
        }
    }
    widest.into_iter().map(|moved| (moved * SLANT).min(MOST_SLANT)).collect()
}
