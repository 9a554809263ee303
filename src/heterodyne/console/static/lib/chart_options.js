// How uPlot is to draw: scales from zero, axes in the page's own words and colours.

import * as format from "./format.js";
import { colour, pale } from "./theme.js";

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const AXIS_CHAR_PX = 6.6;
const X_AXIS_PX = 24;
const HALF_DAY_S = 43200;

export function timeOptions(options, series, write, size) {
  const strength = options.kind === "bars" ? 0.85 : options.stacked ? 0.45 : options.kind === "area" ? 0.15 : 0;
  return {
    ...size,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    padding: [8, 16, 0, 0],
    scales: { x: { time: true, range: options.kind === "bars" ? withHalfSteps : undefined }, y: { range: fromZero } },
    axes: [
      axis({ values: timeLabels, space: 70, size: X_AXIS_PX }),
      axis({ values: (_, splits) => splits.map(write), size: axisWidth }),
    ],
    series: [{}, ...series.map((one, index) => {
      const stroke = toneColour(one.tone, index);
      return {
        label: one.label, stroke, width: options.kind === "bars" ? 0 : 1.5,
        dash: one.dash,
        points: { show: options.kind !== "bars", size: 4, filter: (plot, place) => alone(plot.data[place]) },
        fill: strength ? pale(stroke, strength) : undefined,
        paths: options.kind === "bars" ? uPlot.paths.bars({ size: [0.8, 40] }) : undefined,
      };
    })],
  };
}

// A point between two gaps has no line to be seen by.
function alone(values) {
  return values.flatMap((value, index) => {
    const isAlone = value != null && values[index - 1] == null && values[index + 1] == null;
    return isAlone ? [index] : [];
  });
}

// Room for the whole of the first bar and of the last.
function withHalfSteps(plot, low, high) {
  const times = plot.data[0];
  const half = times.length > 1 ? (times[1] - times[0]) / 2 : HALF_DAY_S;
  return [low - half, high + half];
}

export function barOptions(options, names, series, write, slots, size) {
  const isFlat = options.horizontal;
  const middle = (series.length - 1) / 2;
  const longest = Math.max(...names.map((name) => String(name).length), 1);
  const nameSize = isFlat ? Math.min(size.width * 0.4, longest * AXIS_CHAR_PX + 14) : X_AXIS_PX;
  const fits = isFlat ? names.length : Math.max(1, Math.floor((size.width - 60) / (longest * AXIS_CHAR_PX + 12)));
  const step = Math.max(1, Math.ceil(names.length / fits));
  const places = names.map((_, index) => index * slots + middle).filter((_, index) => index % step === 0);
  const nameAt = (place) => String(names[Math.floor(place / slots)] ?? "");
  return {
    ...size,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    padding: [8, 24, 0, 0],
    scales: {
      x: {
        time: false,
        ori: isFlat ? 1 : 0,
        dir: isFlat ? -1 : 1,
        range: () => [-0.7, names.length * slots - (slots > 1 ? 1 : 0) - 0.3],
      },
      y: { ori: isFlat ? 0 : 1, range: fromZero },
    },
    axes: [
      axis({
        side: isFlat ? 3 : 2,
        splits: () => places,
        values: (_, splits) => splits.map(nameAt),
        size: nameSize,
        grid: { show: false },
      }),
      axis({
        side: isFlat ? 2 : 3,
        values: (_, splits) => splits.map(write),
        space: isFlat ? 80 : 40,
        size: isFlat ? X_AXIS_PX : axisWidth,
      }),
    ],
    series: [{}, ...series.map((one, index) => {
      const stroke = toneColour(one.tone, index);
      return {
        label: one.label,
        stroke,
        width: 0,
        fill: stroke,
        points: { show: false },
        paths: uPlot.paths.bars({ size: [0.85, 48] }),
      };
    })],
  };
}

function axis(own) {
  return {
    font: FONT, stroke: colour("muted"), gap: 4,
    ticks: { show: false },
    grid: { stroke: colour("line"), width: 1 },
    ...own,
  };
}

// Wide enough for the longest label; uPlot asks again when the labels change.
function axisWidth(_, values) {
  return values ? Math.max(...values.map((value) => value.length), 3) * AXIS_CHAR_PX + 12 : 50;
}

function fromZero(_, low, high) {
  if (low === null || high === null) return [0, 1];
  return [Math.min(0, low), high > 0 ? high * 1.06 : 1];
}

function timeLabels(_, splits, __, ___, step) {
  return splits.map((at) => {
    const said = format.clock(at);
    if (step >= 86400 || (step > 3600 && said.startsWith("00:00"))) return format.day(at);
    return step < 60 ? said : said.slice(0, 5);
  });
}

// A number of the palette, a word of style.css, or nothing: the series' place.
export function toneColour(tone, index) {
  if (tone === undefined || tone === null) return colour(`series-${(index % 8) + 1}`);
  return colour(typeof tone === "number" ? `series-${((tone - 1) % 8) + 1}` : tone);
}
