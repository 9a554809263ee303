// How the ticks of one axis are written: all in one unit, with the digits their step needs, so that no two read alike.

import * as format from "../format.js";

const DAY_S = 86400;

// write: one of format.js, or a function with `ticks` of its own. -> (value) -> text
export function tickWords(write, step, high) {
  return (write.ticks ?? WORDS.get(write) ?? (() => write))(step, high);
}

// A writer of figures whose axis is written another way: withTicks((n) => rate(n, "h"), unitTicks("h"))
export function withTicks(write, ticks) {
  return Object.assign((value) => write(value), { ticks });
}

export const unitTicks = (unit) => (step, high) => {
  const [size, name] = high < 1e4 ? [1, ""] : high < 1e7 ? [1e3, "k"] : high < 1e10 ? [1e6, "M"] : [1e9, "G"];
  return (value) => `${grouped(value / size, digitsOf(step / size))}${name}${unit ? ` ${unit}` : ""}`;
};

export const percentTicks = (step) => (value) => `${grouped(value * 100, digitsOf(step * 100))}%`;

const msTicks = (step, high) => {
  const [size, name] =
    high < 1000 ? [1, "ms"] : high < 180e3 ? [1000, "s"] : high < 7.2e6 ? [6e4, "min"] : [3.6e6, "h"];
  return (value) => `${grouped(value / size, digitsOf(step / size))} ${name}`;
};

const usdTicks = (step) => {
  const digits = digitsOf(step);
  return (value) => `${value < 0 ? "−" : ""}$${grouped(Math.abs(value), digits === 1 ? 2 : digits)}`;
};

const WORDS = new Map([
  [format.ms, msTicks], [format.usd, usdTicks], [format.percent, percentTicks], [format.count, unitTicks("")],
  [format.rate, unitTicks("")], [format.tokens, unitTicks("")],
]);

// Times of day, days where the steps are days, and the day at its midnight.
export function timeWords(at, step) {
  const said = format.clock(at);
  if (step >= DAY_S || (step > 3600 && said.startsWith("00:00"))) return format.day(at);
  return step < 60 ? said : said.slice(0, 5);
}

// How many digits after the point tell neighbours apart.
function digitsOf(step) {
  for (let digits = 0; digits < 9; digits += 1) {
    const scaled = step * 10 ** digits;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * Math.max(1, scaled)) return digits;
  }
  return 9;
}

function grouped(value, digits) {
  const size = Math.abs(value) < 10 ** -digits / 2 ? 0 : value; // no "-0"
  return size.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
