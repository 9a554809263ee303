// From values to pixels. Pure.

// linear([0, 10], [200, 0])(5) -> 100
export function linear([low, high], [from, to]) {
  const size = high - low || 1;
  return (value) => from + ((value - low) / size) * (to - from);
}

export function logarithmic([low, high], [from, to]) {
  const place = linear([Math.log(low), Math.log(high)], [from, to]);
  return (value) => place(Math.log(value));
}

// The range of an axis that begins at zero, with a little air above; nothing to show is shown from 0 to 1.
export function fromZero(columns) {
  let [low, high] = [0, 0];
  for (const column of columns) {
    for (const value of column) {
      if (value === null || value === undefined) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return [low, high > 0 ? high * 1.06 : low < 0 ? 0 : 1];
}

// The place in `sorted` nearest to a value; null where there is none.
export function nearest(sorted, value) {
  if (!sorted.length) return null;
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value - sorted[low - 1] < sorted[low] - value ? low - 1 : low;
}
