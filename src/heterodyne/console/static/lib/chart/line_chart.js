// Series over time: lines, areas or bars, one on the other where they are stacked.

import * as format from "../format.js";
import { colour, pale } from "../theme.js";
import { drawBottom, drawLeft, TOP_PX, widthOf, X_AXIS_PX } from "./axes.js";
import { frame } from "./frame.js";
import { drawBar, drawDot, drawLine } from "./marks.js";
import { fromZero, linear, nearest } from "./scale.js";
import { roundTicks, timeTicks } from "./ticks.js";
import { tickWords, timeWords, unitTicks, withTicks } from "./tick_words.js";
import { toneColour } from "./tone.js";

const RIGHT_PX = 16;
const Y_TICK_PX = 40; // at least between two of them
const X_TICK_PX = 70;
const BAR_SHARE = 0.8; // of a step
const BAR_MAX_PX = 40;
const HALF_DAY_S = 43200;

// { title, unit, height, format, series: [{ label, tone, dash }], times, values, kind: "line" | "bars" | "area",
//   stacked, restsAt: "first" | "last" } -> { element, update(times, values, series?, format?), destroy() }
// `restsAt` is the place whose values the legend has while nobody points.
// times are seconds since the epoch; `values` has one list per series; null is a gap.
export function lineChart(options) {
  let write = options.format ?? withTicks((n) => format.rate(n, options.unit), unitTicks(options.unit));
  let { series, times, values } = options;
  const isAhead = options.restsAt === "first";
  const chart = frame(options, {
    series: () => series,
    steps: () => times.length,
    shown: (index, at) => write(values[index]?.[at ?? (isAhead ? 0 : times.length - 1)] ?? null),
    when: (at) => (at === null ? (isAhead ? "now" : "latest") : format.clock(times[at])),
    draw: (canvas, isHidden) => draw(canvas, isHidden, { options, series, times, values, write }),
    inWords: () => series.map((one, index) => inWords(one.label, values[index] ?? [], write)).join("; "),
  });
  return {
    element: chart.element,
    update(newTimes, newValues, newSeries, newFormat) {
      const isOther = newSeries && labels(newSeries) !== labels(series);
      times = newTimes;
      values = newValues;
      series = newSeries ?? series;
      write = newFormat ?? write;
      chart.update(isOther);
    },
    destroy: chart.destroy,
  };
}

function draw(canvas, isHidden, { options, series, times, values, write }) {
  const { picture, width, height } = canvas;
  const isBars = options.kind === "bars";
  const shown = values.map((column, index) => (isHidden(index) ? column.map(() => null) : column));
  const columns = options.stacked ? stack(shown) : shown;
  const range = fromZero(columns);
  const upright = { top: TOP_PX, bottom: height - X_AXIS_PX };
  const y = linear(range, [upright.bottom, upright.top]);
  const ys = roundTicks(...range, Math.max(2, Math.floor((upright.bottom - upright.top) / Y_TICK_PX)));
  const yWords = ys.at.map(tickWords(write, ys.step, range[1]));
  const box = { ...upright, left: widthOf(picture, yWords), right: width - RIGHT_PX };
  const span = spanOf(times, isBars);
  const x = linear(span, [box.left, box.right]);
  const xs = timeTicks(...span, Math.max(2, Math.floor((box.right - box.left) / X_TICK_PX)));
  drawLeft(picture, box, ys.at.map((value, index) => ({ place: y(value), words: yWords[index] })));
  drawBottom(picture, box, xs.at.map((at) => ({ place: x(at), words: timeWords(at, xs.step) })), { width });
  const strength = isBars ? 0.85 : options.stacked ? 0.45 : options.kind === "area" ? 0.15 : 0;
  columns.forEach((column, index) => {
    if (isHidden(index)) return;
    const stroke = toneColour(series[index].tone, index);
    const fill = strength ? pale(stroke, strength) : null;
    const points = column.map((value, at) => (value === null || value === undefined ? null : [x(times[at]), y(value)]));
    if (isBars) drawBars(picture, points, x, times, { fill, base: y(0) });
    else drawLine(picture, points, { stroke, fill, dash: series[index].dash, base: y(0) });
  });
  return {
    find: (pointer) => nearest(times.map(x), pointer),
    mark(_, at) {
      drawCursor(canvas.above, x(times[at]), box);
      columns.forEach((column, index) => {
        if (isHidden(index) || column[at] === null || column[at] === undefined) return;
        drawDot(canvas.above, [x(times[at]), y(column[at])], toneColour(series[index].tone, index), 3);
      });
    },
  };
}

export function drawCursor(context, place, box) {
  context.strokeStyle = colour("muted");
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(Math.round(place) + 0.5, box.top);
  context.lineTo(Math.round(place) + 0.5, box.bottom);
  context.stroke();
  context.setLineDash([]);
}

function drawBars(context, points, x, times, { fill, base }) {
  const step = times.length > 1 ? x(times[1]) - x(times[0]) : BAR_MAX_PX / BAR_SHARE;
  const size = Math.max(1, Math.min(BAR_MAX_PX, step * BAR_SHARE));
  for (const point of points) {
    if (point) drawBar(context, { from: point[0] - size / 2, size, base, end: point[1], fill });
  }
}

// The first series on top: it is drawn with all below it, and those over it after.
function stack(values) {
  const sums = [];
  let below = [];
  for (const own of [...values].reverse()) {
    below = own.map(
      (value, at) => (value === null && (below[at] ?? null) === null ? null : (value ?? 0) + (below[at] ?? 0))
    );
    sums.unshift(below);
  }
  return sums;
}

// Room for the whole of the first bar and of the last.
function spanOf(times, isBars) {
  if (!times.length) return [0, 1];
  const half = times.length > 1 ? (times[1] - times[0]) / 2 : HALF_DAY_S;
  return isBars || times.length === 1 ? [times[0] - half, times.at(-1) + half] : [times[0], times.at(-1)];
}

function inWords(label, values, write) {
  const there = values.filter((value) => value !== null && value !== undefined);
  if (!there.length) return `${label}: nothing`;
  const [low, high] = [Math.min(...there), Math.max(...there)];
  return `${label}: latest ${write(there.at(-1))}, lowest ${write(low)}, highest ${write(high)}`;
}

const labels = (series) => series.map((one) => `${one.label}\n${one.tone}`).join("\n");
