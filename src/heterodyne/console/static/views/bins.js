// Puts the fine buckets of a distribution into bins of equal width on a logarithmic axis. Pure.

const PER_DECADE = 10;

// Bins that cover all the distributions, as {edges: upper ends in ms, shares: one list for each distribution}.
export function logBins(distributions) {
  const ends = distributions.flat().filter((bar) => bar.count > 0).map((bar) => binOf(bar.up_to_ms));
  if (!ends.length) return { edges: [], shares: distributions.map(() => []) };
  const first = Math.min(...ends);
  const size = Math.max(...ends) - first + 1;
  return {
    edges: Array.from({ length: size }, (_, index) => 10 ** ((first + index) / PER_DECADE)),
    shares: distributions.map((bars) => sharesOf(bars, first, size)),
  };
}

function sharesOf(bars, first, size) {
  const counts = new Array(size).fill(0);
  let whole = 0;
  for (const bar of bars) {
    if (bar.count <= 0) continue;
    counts[binOf(bar.up_to_ms) - first] += bar.count;
    whole += bar.count;
  }
  return counts.map((count) => (whole ? count / whole : 0));
}

// A bucket that ends at an edge belongs below it; the rounding of logarithms is forgiven.
function binOf(upTo) {
  return Math.ceil(Math.log10(Math.max(upTo, 1e-3)) * PER_DECADE - 1e-6);
}
