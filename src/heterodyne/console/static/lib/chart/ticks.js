// Where an axis has its ticks: at round numbers, round times, or 1, 2 and 5 of each decade. Pure.

const ROUND = [1, 2, 2.5, 5, 10];
const TIME_STEPS_S = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
  86400, 172800, 604800, 1209600, 2592000,
];
const DAY_S = 86400;
const FEW = 4;
const FORGIVEN = 1e-9; // of rounding, in steps

// -> { step, at: [] }, at most `most` of them from `low` to `high`
export function roundTicks(low, high, most) {
  const step = roundStep((high - low) / Math.max(1, most));
  const first = Math.ceil(low / step - FORGIVEN);
  const last = Math.floor(high / step + FORGIVEN);
  return { step, at: Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step) };
}

// Seconds since the epoch; days begin at midnight where the reader is.
export function timeTicks(low, high, most) {
  const wanted = (high - low) / Math.max(1, most);
  const step = TIME_STEPS_S.find((one) => one >= wanted) ?? Math.ceil(wanted / DAY_S) * DAY_S;
  const at = [];
  const begin = Math.ceil((low - zone(low)) / step) * step;
  for (let local = begin; local + zone(local) <= high; local += step) at.push(local + zone(local));
  return { step, at };
}

// Of a logarithmic axis: 1, 2 and 5 of each decade, every digit where those are few, the decades where they are many.
export function decadeTicks(low, high, most) {
  const at = digitTicks(low, high, [1, 2, 5]);
  if (at.length < FEW) return { step: null, at: digitTicks(low, high, [1, 1.5, 2, 3, 4, 5, 7]) };
  if (at.length <= most) return { step: null, at };
  const decades = at.filter((value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < FORGIVEN);
  return { step: null, at: decades.length > 1 ? decades : at.filter((_, index) => index % 2 === 0) };
}

function digitTicks(low, high, digits) {
  const at = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade += 1) {
    for (const digit of digits) {
      const value = digit * 10 ** decade;
      if (value >= low * (1 - FORGIVEN) && value <= high * (1 + FORGIVEN)) at.push(value);
    }
  }
  return at;
}

function roundStep(wanted) {
  const size = 10 ** Math.floor(Math.log10(wanted));
  return ROUND.find((one) => one * size >= wanted * (1 - FORGIVEN)) * size;
}

// Seconds to add to the reader's own time.
function zone(at) {
  return new Date(at * 1000).getTimezoneOffset() * 60;
}
