//! Style sheet of the SVG: the product's colours by name, once for light and once for dark.

use super::Theme;

const LIGHT: &str = "--ca-page:#f6f7f9;--ca-card:#ffffff;--ca-chip:#f0f2f5;--ca-rim:#c3cad3;--ca-line:#8a94a3;\
--ca-strong:#4a5361;--ca-text:#14181f;--ca-text-2:#4a5361;--ca-text-3:#5f6978;--ca-hair:#e4e8ed;\
--ca-accent:#3b4fd8;--ca-accent-soft:#eaedfd;--ca-accent-rim:#a9b3ef";

const DARK: &str = "--ca-page:#0e1116;--ca-card:#171c24;--ca-chip:#27303b;--ca-rim:#3a4553;--ca-line:#6b7788;\
--ca-strong:#b3bdca;--ca-text:#e8ecf2;--ca-text-2:#b3bdca;--ca-text-3:#93a0b1;--ca-hair:#27303b;\
--ca-accent:#8c9bff;--ca-accent-soft:#1b2140;--ca-accent-rim:#4a58a8";

/// Every rule is under `.ca-graph`, because the sheet of an inline SVG applies to the whole page.
const RULES: &str = "
.ca-graph text{font:400 11px 'Inter Variable','Inter','SF Pro Text','Segoe UI','PingFang SC','Microsoft YaHei','Noto Sans CJK SC','Noto Sans',system-ui,sans-serif;fill:var(--ca-text-2)}
.ca-graph .ca-page{fill:var(--ca-page)}
.ca-graph .ca-title{font-size:13px;font-weight:600;fill:var(--ca-text)}
.ca-graph .ca-mid,.ca-graph .ca-agent,.ca-graph .ca-label text{text-anchor:middle}
.ca-graph .ca-id,.ca-graph .ca-calls{font-family:'JetBrains Mono','SF Mono','Cascadia Code',Menlo,Consolas,'Noto Sans Mono CJK SC','DejaVu Sans Mono',monospace;fill:var(--ca-text-3)}
.ca-graph .ca-calls{fill:var(--ca-accent)}
.ca-graph .ca-into{fill:none;stroke:var(--ca-accent);stroke-width:1.25;stroke-linecap:round;stroke-linejoin:round}
.ca-graph .ca-shape{fill:var(--ca-card);stroke:var(--ca-rim);stroke-linejoin:round}
.ca-graph .ca-inner{fill:none;stroke:var(--ca-rim)}
.ca-graph .ca-decision .ca-shape{fill:var(--ca-accent-soft);stroke:var(--ca-accent-rim)}
.ca-graph .ca-merge .ca-shape{fill:var(--ca-chip)}
.ca-graph .ca-end .ca-shape,.ca-graph .ca-end .ca-inner{stroke:var(--ca-line)}
.ca-graph .ca-chip{fill:var(--ca-chip)}
.ca-graph .ca-decision .ca-chip,.ca-graph .ca-merge .ca-chip{fill:var(--ca-card)}
.ca-graph .ca-line{fill:none;stroke:var(--ca-line);stroke-width:1.4}
.ca-graph .ca-tip{fill:var(--ca-line)}
.ca-graph .ca-edge.ca-default .ca-line{stroke:var(--ca-strong);stroke-width:2.2}
.ca-graph .ca-edge.ca-default .ca-tip{fill:var(--ca-strong)}
.ca-graph .ca-slash{stroke:var(--ca-strong);stroke-width:1.8;stroke-linecap:round}
.ca-graph .ca-label rect{fill:var(--ca-page);stroke:var(--ca-hair)}
.ca-graph .ca-label text{fill:var(--ca-text-3)}
.ca-graph .ca-label.ca-default text{fill:var(--ca-text-2);font-weight:500}
.ca-graph .ca-start .ca-line{stroke:var(--ca-accent)}
.ca-graph .ca-start .ca-tip,.ca-graph .ca-dot{fill:var(--ca-accent)}
.ca-graph .ca-ring{fill:var(--ca-accent-soft);stroke:var(--ca-accent);stroke-width:1.4}
";

/// Returns the style sheet of a theme.
pub(super) fn sheet(theme: Theme) -> String {
    let colours = match theme {
        Theme::Auto => format!(
            "\n.ca-graph{{color-scheme:light dark;{LIGHT}}}\n@media (prefers-color-scheme:dark){{.ca-graph{{{DARK}}}}}"
        ),
        Theme::Light => format!("\n.ca-graph{{color-scheme:light;{LIGHT}}}"),
        Theme::Dark => format!("\n.ca-graph{{color-scheme:dark;{DARK}}}"),
    };
    format!("{colours}{RULES}")
}
