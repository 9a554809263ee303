// Bars by name, upright or lying; those of one name stand beside each other.

import * as format from "../format.js";
import { colour } from "../theme.js";
import { drawBottom, drawLeft, shortened, TOP_PX, widthOf, X_AXIS_PX } from "./axes.js";
import { frame, HEIGHT } from "./frame.js";
import { drawBar } from "./marks.js";
import { fromZero, linear } from "./scale.js";
import { roundTicks } from "./ticks.js";
import { tickWords } from "./tick_words.js";
import { toneColour } from "./tone.js";

const RIGHT_PX = 24;
const ROW_PX = 22;
const BAR_SHARE = 0.85; // of its place
const BAR_MAX_PX = 48;
const NAMES_SHARE_MAX = 0.4; // of the width
const WORDS_MAX = 40;

// { title, labels, series: [{ label, tone }], values, format, horizontal, height }
// -> { element, update(labels, values, series?), destroy() }; `values` has one list per series.
export function barChart(options) {
  const write = options.format ?? format.count;
  let { labels: names, series, values } = options;
  const height = () =>
    options.height ?? (options.horizontal ? Math.max(90, names.length * slotsOf(series) * ROW_PX + 40) : HEIGHT);
  const chart = frame({ ...options, get height() { return height(); } }, {
    series: () => series,
    steps: () => names.length,
    shown: (index, at) => (at === null ? "" : write(values[index]?.[at] ?? null)),
    when: (at) => (at === null ? "" : String(names[at] ?? "")),
    draw: (canvas, isHidden) => {
      const given = { names, series, values: values.map((column, index) => (isHidden(index) ? [] : column)), write };
      return options.horizontal ? drawLying(canvas, given) : drawUpright(canvas, given);
    },
    inWords: () => inWords(names, series, values, write),
  });
  return {
    element: chart.element,
    update(newNames, newValues, newSeries) {
      names = newNames;
      values = newValues;
      series = newSeries ?? series;
      chart.update(true);
    },
    destroy: chart.destroy,
  };
}

function drawLying(canvas, { names, series, values, write }) {
  const { picture, width, height } = canvas;
  const range = fromZero(values);
  const left = Math.min(width * NAMES_SHARE_MAX, widthOf(picture, names.map(String)));
  const box = { left, right: width - RIGHT_PX, top: TOP_PX, bottom: height - X_AXIS_PX };
  const x = linear(range, [box.left, box.right]);
  const ticks = roundTicks(...range, Math.max(2, Math.floor((box.right - box.left) / 80)));
  const words = ticks.at.map(tickWords(write, ticks.step, range[1]));
  const place = placesOf(names.length, slotsOf(series), [box.top, box.bottom]);
  drawBottom(picture, box, ticks.at.map((value, index) => ({ place: x(value), words: words[index] })), { width });
  drawLeft(picture, box, names.map((name, index) => ({
    place: place.middle(index, series.length), words: shortened(picture, String(name), left - 10),
  })), { hasLines: false });
  eachBar(values, (index, at, value) => drawBar(picture, {
    ...place.of(index, at), base: x(0), end: x(value), fill: toneColour(series[index].tone, index), isFlat: true,
  }));
  return {
    find: (_, y) => place.find(y),
    mark: ({ above }, at) => drawBand(above, { x: box.left, width: box.right - box.left, ...place.band(at, "y") }),
  };
}

function drawUpright(canvas, { names, series, values, write }) {
  const { picture, width, height } = canvas;
  const range = fromZero(values);
  const upright = { top: TOP_PX, bottom: height - X_AXIS_PX };
  const y = linear(range, [upright.bottom, upright.top]);
  const ticks = roundTicks(...range, Math.max(2, Math.floor((upright.bottom - upright.top) / 40)));
  const words = ticks.at.map(tickWords(write, ticks.step, range[1]));
  const box = { ...upright, left: widthOf(picture, words), right: width - RIGHT_PX };
  const place = placesOf(names.length, slotsOf(series), [box.left, box.right]);
  const longest = Math.max(1, ...names.map((name) => picture.measureText(String(name)).width));
  const each = Math.max(1, Math.ceil((names.length * (longest + 12)) / (box.right - box.left)));
  drawLeft(picture, box, ticks.at.map((value, index) => ({ place: y(value), words: words[index] })));
  const named = names.map((name, index) => ({ place: place.middle(index, series.length), words: String(name) }));
  drawBottom(picture, box, named.filter((_, index) => index % each === 0), { hasLines: false, width });
  eachBar(values, (index, at, value) => drawBar(picture, {
    ...place.of(index, at), base: y(0), end: y(value), fill: toneColour(series[index].tone, index),
  }));
  return {
    find: (x) => place.find(x),
    mark: ({ above }, at) => drawBand(above, { y: box.top, height: box.bottom - box.top, ...place.band(at, "x") }),
  };
}

// Where the bars of each name are, along the axis of names.
function placesOf(names, slots, [from, to]) {
  const slot = (to - from) / Math.max(1, names * slots - (slots > 1 ? 1 : 0));
  const size = Math.min(BAR_MAX_PX, slot * BAR_SHARE);
  const start = (at) => from + at * slots * slot;
  const bars = slots > 1 ? slots - 1 : 1;
  return {
    of: (index, at) => ({ from: start(at) + index * slot + (slot - size) / 2, size }),
    middle: (at, series) => start(at) + (series * slot) / 2,
    band: (at, axis) => ({ [axis]: start(at), [axis === "x" ? "width" : "height"]: bars * slot }),
    find: (pixel) => {
      const at = Math.floor((pixel - from) / (slots * slot));
      return at < 0 || at >= names ? null : at;
    },
  };
}

function drawBand(context, { x, y, width, height }) {
  context.fillStyle = colour("muted");
  context.globalAlpha = 0.12;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
}

function eachBar(values, act) {
  values.forEach((column, index) => column.forEach((value, at) => {
    if (value !== null && value !== undefined) act(index, at, value);
  }));
}

// Names are kept apart by the room of one bar where several stand together.
const slotsOf = (series) => series.length + (series.length > 1 ? 1 : 0);

function inWords(names, series, values, write) {
  return names.slice(0, WORDS_MAX).map((name, at) => {
    const said = series.map(
      (one, index) => `${series.length > 1 ? `${one.label} ` : ""}${write(values[index]?.[at] ?? null)}`
    );
    return `${name}: ${said.join(", ")}`;
  }).join("; ");
}
