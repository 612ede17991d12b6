//! Items of every band: nodes, labels and passing edges, so that nothing new is placed on top of them.

use std::ops::RangeBounds;

/// Item with a position in a band.
#[derive(Debug, Clone, Copy)]
pub(super) struct BandItem {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) kind: ItemKind,
    /// Link or node that it belongs to.
    pub(super) owner: usize,
}

/// Kind of an [`BandItem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Node,
    Label,
    /// Edge that passes.
    Route,
}

impl BandItem {
    pub(super) fn label(x: f64, width: f64, link: usize) -> BandItem {
        BandItem {
            left: x - width / 2.0,
            right: x + width / 2.0,
            kind: ItemKind::Label,
            owner: link,
        }
    }

    pub(super) fn way(x: f64, link: usize) -> BandItem {
        BandItem { left: x, right: x, kind: ItemKind::Route, owner: link }
    }

    fn is_of_link(self, link: usize) -> bool {
        self.owner == link && self.kind != ItemKind::Node
    }

    /// Returns the distance that others keep from it.
    pub(super) fn margin(self) -> f64 {
        match self.kind {
            ItemKind::Node => 18.0,
            ItemKind::Label => 9.0,
            ItemKind::Route => 11.0,
        }
    }

    /// Returns true if something from `left` to `right` would touch this.
    pub(super) fn blocks(self, left: f64, right: f64) -> bool {
        left < self.right + self.margin() && right > self.left - self.margin()
    }
}

/// Bands of a picture and their items.
#[derive(Debug)]
pub(super) struct Rows {
    rows: Vec<BandRow>,
}

#[derive(Debug, Clone, Default)]
struct BandRow {
    items: Vec<BandItem>,
    has_node: bool,
    /// Left and right end of all items.
    extent: Option<(f64, f64)>,
}

impl Rows {
    pub(super) fn new(bands: usize) -> Rows {
        Rows { rows: vec![BandRow::default(); bands] }
    }

    pub(super) fn add(&mut self, band: usize, item: BandItem) {
        if let Some(row) = self.rows.get_mut(band) {
            row.items.push(item);
            row.has_node |= item.kind == ItemKind::Node;
            let (left, right) = row.extent.unwrap_or((item.left, item.right));
            row.extent = Some((left.min(item.left), right.max(item.right)));
        }
    }

    pub(super) fn band(&self, band: usize) -> &[BandItem] {
        self.rows.get(band).map_or(&[], |row| row.items.as_slice())
    }

    /// Returns true if a label of `link` would touch nothing but the link itself.
    pub(super) fn has_room(&self, band: usize, label: BandItem) -> bool {
        let others = self.band(band).iter().filter(|item| !item.is_of_link(label.owner));
        others.into_iter().all(|item| !item.blocks(label.left, label.right))
    }

    /// Removes the label of a link from a band.
    pub(super) fn remove_label(&mut self, band: usize, link: usize) {
        if let Some(row) = self.rows.get_mut(band) {
            row.items.retain(|item| item.kind != ItemKind::Label || item.owner != link);
            let ends = row.items.iter().map(|item| (item.left, item.right));
            row.extent = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        }
    }

    /// Returns true if a band is for labels only.
    pub(super) fn has_no_node(&self, band: usize) -> bool {
        self.rows.get(band).is_none_or(|row| !row.has_node)
    }

    /// Moves everything to the right by `by`.
    pub(super) fn shift(&mut self, by: f64) {
        for row in &mut self.rows {
            row.extent = row.extent.map(|(left, right)| (left + by, right + by));
            for item in &mut row.items {
                item.left += by;
                item.right += by;
            }
        }
    }

    /// Returns the left and right end of everything in some bands.
    pub(super) fn extent(&self, bands: impl RangeBounds<usize>) -> Option<(f64, f64)> {
        let bounds = (bands.start_bound().cloned(), bands.end_bound().cloned());
        let rows = self.rows.get(bounds)?.iter();
        rows.filter_map(|row| row.extent).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Returns the number of items.
    pub(super) fn len(&self) -> usize {
        self.rows.iter().map(|row| row.items.len()).sum()
    }
}
