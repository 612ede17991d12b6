//! Outlines of nodes as geometry: the points at which edges meet the border of the drawn shape.

use super::NodeShape;

/// Corner radius of boxes.
pub(super) const CORNER: f64 = 8.0;

/// Outline of a node around its centre.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline {
    pub(super) kind: NodeShape,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Outline {
    /// Returns the length of a hexagon's points.
    pub(super) fn point(self) -> f64 {
        (self.height * 0.34).min(22.0)
    }

    /// Returns the length of the part at either end of the top and bottom border that is not straight.
    pub(super) fn cap(self) -> f64 {
        match self.kind {
            NodeShape::Step | NodeShape::Subworkflow => CORNER + 4.0,
            NodeShape::Decision => self.point() + 2.0,
            NodeShape::Merge | NodeShape::End => self.height / 2.0,
        }
    }

    /// Returns half the length of the straight part of the top and bottom border.
    pub(super) fn flat(self) -> f64 {
        (self.width / 2.0 - self.cap()).max(0.0)
    }

    /// Returns the distance from the centre to the side border, `dy` above or below the centre.
    pub(super) fn reach(self, dy: f64) -> f64 {
        let half = self.width / 2.0;
        let middle = self.height / 2.0;
        let dy = dy.abs().min(middle);
        match self.kind {
            NodeShape::Step | NodeShape::Subworkflow => half,
            NodeShape::Decision if middle > 0.0 => half - self.point() * dy / middle,
            NodeShape::Decision => half,
            NodeShape::Merge | NodeShape::End => {
                (half - middle).max(0.0) + (middle * middle - dy * dy).max(0.0).sqrt()
            }
        }
    }
}
