//! The columns of Markdown and AsciiDoc tables.

use crate::figure::time;
use crate::units::{number, percent, times};
use carryline_results::Cell;
use carryline_statistics::Estimate;

/// The names of the columns, and whether they contain numbers.
pub(super) const fn columns() -> [(&'static str, bool); 8] {
    [
        ("situation", false),
        ("variant", false),
        ("rank", true),
        ("gross ticks", true),
        ("95 % interval", false),
        ("net ticks", true),
        ("as fast as the baseline", true),
        ("of limit", true),
    ]
}

/// A cell's values in these columns; a cell without figures has the reason.
pub(super) fn figures(cell: &Cell) -> [String; 8] {
    let or_nothing = |text: Option<String>| text.unwrap_or_default();
    let interval = |gross: Estimate| format!("[{}, {}]", number(gross.low), number(gross.high));
    let why = || crate::text::safe(cell.detail.as_deref().unwrap_or_default());
    [
        cell.situation.clone(),
        cell.variant.clone(),
        or_nothing(cell.rank.map(|rank| rank.to_string())),
        or_nothing(cell.gross.map(|gross| number(gross.median))),
        cell.gross.map_or_else(why, interval),
        or_nothing(cell.ticks_per_call.map(|net| time(net.median))),
        or_nothing(cell.ratio_to_baseline.map(|ratio| times(1.0 / ratio.median))),
        or_nothing(cell.limit_share.map(percent)),
    ]
}
