//! Positions on a line that keep their distance and stay as close as possible to the wanted ones.

/// Returns the positions nearest to `wanted` (by least squares) with a distance of at least `gap(i)` between `i - 1`
/// and `i`. They keep the order of `wanted`, even where its values are not sorted.
pub(super) fn spread(
    wanted: &[f64],
    weight: impl Fn(usize) -> f64,
    gap: impl Fn(usize) -> f64,
) -> Vec<f64> {
    // With the gaps subtracted, this is isotonic regression: merge neighbours that would overtake each other.
    struct SpreadBlock {
        sum: f64,
        weight: f64,
        count: usize,
    }
    let mut offsets = Vec::with_capacity(wanted.len());
    let mut blocks: Vec<SpreadBlock> = Vec::new();
    let mut offset = 0.0;
    for (i, &want) in wanted.iter().enumerate() {
        if i > 0 {
            offset += gap(i);
        }
        offsets.push(offset);
        let w = weight(i);
        let mut block = SpreadBlock { sum: (want - offset) * w, weight: w, count: 1 };
        while let Some(last) =
            blocks.pop_if(|last| last.sum / last.weight > block.sum / block.weight)
        {
            block.sum += last.sum;
            block.weight += last.weight;
            block.count += last.count;
        }
        blocks.push(block);
    }
    let levels =
        blocks.iter().flat_map(|block| std::iter::repeat_n(block.sum / block.weight, block.count));
    levels.zip(offsets).map(|(level, offset)| level + offset).collect()
}
