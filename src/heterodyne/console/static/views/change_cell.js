// A change in per cent where less is better: a sign and a word for the colour, so that the colour is never alone.

import { h } from "../lib/dom.js";
import { NONE, percent } from "../lib/format.js";

const NOTICEABLE = 0.05; // percentiles are ends of buckets some three per cent wide

export function changeCell(change) {
  if (change === null) return NONE;
  const tone = change > NOTICEABLE ? "worse" : change < -NOTICEABLE ? "better" : "same";
  const words = `${change > 0 ? "+" : change < 0 ? "−" : "±"}${percent(Math.abs(change))}`;
  return h("span", { class: `change change-${tone}`, title: tone }, words);
}
