// The colours of charts.

import { colour } from "../theme.js";

const PALETTE = 8;

// A number of the palette, a word of style.css, or nothing: the series' place.
export function toneColour(tone, index) {
  if (tone === undefined || tone === null) return colour(`series-${(index % PALETTE) + 1}`);
  return colour(typeof tone === "number" ? `series-${((tone - 1) % PALETTE) + 1}` : tone);
}
