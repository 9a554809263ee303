// Room for the axes, their lines and their words. A box is the plot itself: { left, right, top, bottom } in pixels.

import { colour } from "../theme.js";

export const TOP_PX = 8;
export const X_AXIS_PX = 24;
const GAP_PX = 8;
const WORD_GAP_PX = 4;

// Wide enough at the left for these words.
export function widthOf(context, words) {
  return Math.ceil(Math.max(18, ...words.map((word) => context.measureText(word).width))) + GAP_PX + WORD_GAP_PX;
}

// ticks: [{ place, words }], places in pixels from the top
export function drawLeft(context, box, ticks, { hasLines = true } = {}) {
  begin(context, "right", "middle");
  for (const { place, words } of ticks) {
    if (hasLines) rule(context, box.left, place, box.right, place);
    context.fillText(words, box.left - GAP_PX, place);
  }
}

// ticks: [{ place, words }], places in pixels from the left; words keep inside the picture and off each other.
export function drawBottom(context, box, ticks, { hasLines = true, width }) {
  begin(context, "center", "top");
  let taken = -Infinity;
  for (const { place, words } of ticks) {
    if (hasLines) rule(context, place, box.top, place, box.bottom);
    const half = context.measureText(words).width / 2;
    const middle = Math.min(Math.max(place, half), width - half);
    if (middle - half < taken) continue;
    context.fillText(words, middle, box.bottom + GAP_PX);
    taken = middle + half + WORD_GAP_PX;
  }
}

// As much of the words as the room takes.
export function shortened(context, words, room) {
  if (context.measureText(words).width <= room) return words;
  let kept = words;
  while (kept.length > 1 && context.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return `${kept}…`;
}

function begin(context, align, baseline) {
  context.fillStyle = colour("muted");
  context.strokeStyle = colour("line");
  context.lineWidth = 1;
  context.setLineDash([]);
  context.textAlign = align;
  context.textBaseline = baseline;
}

function rule(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(sharp(x1), sharp(y1));
  context.lineTo(sharp(x2), sharp(y2));
  context.stroke();
}

// A line of one pixel lies between the pixels' edges.
const sharp = (place) => Math.round(place) + 0.5;
