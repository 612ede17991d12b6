//! Style sheet of the SVG: the product's colours, once for light and once for dark.
//!
//! Colours are literal, because renderers outside browsers know neither `var()` nor media queries: they show the first
//! palette of the sheet, and browsers let the second one override it.

use super::Theme;

/// Names that [`COLOURS`] uses, with the light and the dark colour.
const PALETTE: [(&str, &str, &str); 13] = [
    ("<page>", "#f6f7f9", "#0e1116"),
    ("<card>", "#ffffff", "#171c24"),
    ("<chip>", "#f0f2f5", "#27303b"),
    ("<rim>", "#c3cad3", "#3a4553"),
    ("<line>", "#8a94a3", "#6b7788"),
    ("<strong>", "#4a5361", "#b3bdca"),
    ("<text>", "#14181f", "#e8ecf2"),
    ("<text-2>", "#4a5361", "#b3bdca"),
    ("<text-3>", "#5f6978", "#93a0b1"),
    ("<hair>", "#e4e8ed", "#27303b"),
    ("<accent>", "#3b4fd8", "#8c9bff"),
    ("<accent-soft>", "#eaedfd", "#1b2140"),
    ("<accent-rim>", "#a9b3ef", "#4a58a8"),
];

/// Every rule is under `.ca-graph`, because the sheet of an inline SVG applies to the whole page.
const COLOURS: &str = "
.ca-graph text{fill:<text-2>}
.ca-graph .ca-page{fill:<page>}
.ca-graph .ca-title{fill:<text>}
.ca-graph .ca-id{fill:<text-3>}
.ca-graph .ca-calls{fill:<accent>}
.ca-graph .ca-into{stroke:<accent>}
.ca-graph .ca-shape{fill:<card>;stroke:<rim>}
.ca-graph .ca-inner{stroke:<rim>}
.ca-graph .ca-decision .ca-shape{fill:<accent-soft>;stroke:<accent-rim>}
.ca-graph .ca-merge .ca-shape{fill:<chip>}
.ca-graph .ca-end .ca-shape,.ca-graph .ca-end .ca-inner{stroke:<line>}
.ca-graph .ca-chip{fill:<chip>}
.ca-graph .ca-decision .ca-chip,.ca-graph .ca-merge .ca-chip{fill:<card>}
.ca-graph .ca-key{fill:<accent-soft>;stroke:<accent-rim>}
.ca-graph .ca-decision .ca-key{fill:<card>}
.ca-graph .ca-keytext{fill:<accent>}
.ca-graph .ca-folded{fill:<text-3>}
.ca-graph .ca-line{stroke:<line>}
.ca-graph .ca-tip{fill:<line>}
.ca-graph .ca-edge.ca-default .ca-line{stroke:<strong>}
.ca-graph .ca-edge.ca-default .ca-tip{fill:<strong>}
.ca-graph .ca-slash{stroke:<strong>}
.ca-graph .ca-label rect{fill:<page>;stroke:<hair>}
.ca-graph .ca-label text{fill:<text-3>}
.ca-graph .ca-label.ca-default text{fill:<text-2>}
.ca-graph .ca-label.ca-option rect{stroke:<accent-rim>}
.ca-graph .ca-label.ca-option text{fill:<accent>}
.ca-graph .ca-start .ca-line{stroke:<accent>}
.ca-graph .ca-start .ca-tip,.ca-graph .ca-dot{fill:<accent>}
.ca-graph .ca-ring{fill:<accent-soft>;stroke:<accent>}
";

const SHAPES: &str = "\
.ca-graph text{font:400 11px 'Inter Variable','Inter','SF Pro Text','Segoe UI','PingFang SC','Microsoft YaHei','Noto Sans CJK SC','Noto Sans',system-ui,sans-serif}
.ca-graph .ca-title{font-size:13px;font-weight:600}
.ca-graph .ca-mid,.ca-graph .ca-agent,.ca-graph .ca-keytext,.ca-graph .ca-label text{text-anchor:middle}
.ca-graph .ca-id,.ca-graph .ca-calls,.ca-graph .ca-keytext{font-family:'JetBrains Mono','SF Mono','Cascadia Code',Menlo,Consolas,'Noto Sans Mono CJK SC','DejaVu Sans Mono',monospace}
.ca-graph .ca-keytext{font-weight:600}
.ca-graph .ca-folded{font-style:italic}
.ca-graph .ca-into{fill:none;stroke-width:1.25;stroke-linecap:round;stroke-linejoin:round}
.ca-graph .ca-shape{stroke-linejoin:round}
.ca-graph .ca-inner{fill:none}
.ca-graph .ca-line{fill:none;stroke-width:1.4}
.ca-graph .ca-edge.ca-default .ca-line{stroke-width:2.2}
.ca-graph .ca-slash{stroke-width:1.8;stroke-linecap:round}
.ca-graph .ca-label.ca-default text{font-weight:500}
.ca-graph .ca-label .ca-if{font-style:italic;font-weight:400}
.ca-graph .ca-ring{stroke-width:1.4}
";

/// Returns the style sheet of a theme.
pub(super) fn sheet(theme: Theme) -> String {
    let light = || coloured(|(_, light, _)| light);
    let dark = || coloured(|(_, _, dark)| dark);
    let (scheme, colours) = match theme {
        Theme::Auto => {
            ("light dark", format!("{}@media (prefers-color-scheme:dark){{{}}}\n", light(), dark()))
        }
        Theme::Light => ("light", light()),
        Theme::Dark => ("dark", dark()),
    };
    format!("\n.ca-graph{{color-scheme:{scheme}}}{colours}{SHAPES}")
}

fn coloured(choose: impl Fn((&str, &'static str, &'static str)) -> &'static str) -> String {
    let paint = |sheet: String, entry: (&'static str, &'static str, &'static str)| {
        sheet.replace(entry.0, choose(entry))
    };
    PALETTE.into_iter().fold(COLOURS.to_owned(), paint)
}
