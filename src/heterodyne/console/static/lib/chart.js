// Charts, drawn by uPlot in the page's colours, each with its figures in words for those who do not see it.
//
// A tone is a number of the palette (1 to 8) or accent, good, warn, bad, muted; without one it is the series' place.
// `values` has one list per series; null is a gap.

import { frame, HEIGHT } from "./chart_frame.js";
import { barOptions, timeOptions } from "./chart_options.js";
import * as format from "./format.js";

export { spark } from "./spark.js";

// { title, unit, height, format, series: [{ label, tone }], times, values, kind: "line" | "bars" | "area", stacked }
// -> { element, update(times, values, series?), destroy() }; times are seconds since the epoch.
export function lineChart(options) {
  const write = options.format ?? ((n) => format.rate(n, options.unit));
  let { series, times, values } = options;
  const chart = frame(options, {
    write,
    series: () => series,
    shown: (index, at) => values[index]?.[at] ?? null,
    when: (at) => (at === null ? "latest" : format.clock(times[at])),
    last: () => times.length - 1,
    data: () => [times, ...(options.stacked ? stack(values) : values)],
    options: (size) => timeOptions(options, series, write, size),
    inWords: () => series.map((one, index) => inWords(one.label, values[index] ?? [], write)).join("; "),
  });
  return {
    element: chart.element,
    update(newTimes, newValues, newSeries) {
      const isOther = newSeries && labels(newSeries) !== labels(series);
      times = newTimes;
      values = newValues;
      if (newSeries) series = newSeries;
      chart.update(isOther);
    },
    destroy: chart.destroy,
  };
}

// { title, labels, series: [{ label, tone }], values, format, horizontal, height }
// -> { element, update(labels, values, series?), destroy() }; the bars of one label stand beside each other.
export function barChart(options) {
  const write = options.format ?? format.count;
  let { labels: names, series, values } = options;
  const slots = () => series.length + (series.length > 1 ? 1 : 0);
  const height = () => options.height ?? (options.horizontal ? Math.max(90, names.length * slots() * 22 + 40) : HEIGHT);
  const chart = frame({ ...options, get height() { return height(); } }, {
    write,
    series: () => series,
    shown: (index, at) => (at === null ? null : values[index]?.[Math.floor(at / slots())] ?? null),
    when: (at) => (at === null ? "" : names[Math.floor(at / slots())] ?? ""),
    last: () => null,
    data: () => spreadOut(names, series, values, slots()),
    options: (size) => barOptions(options, names, series, write, slots(), size),
    inWords: () => barsInWords(names, series, values, write),
  });
  return {
    element: chart.element,
    update(newNames, newValues, newSeries) {
      names = newNames;
      values = newValues;
      if (newSeries) series = newSeries;
      chart.update(true);
    },
    destroy: chart.destroy,
  };
}

// The first series on top: it is drawn with all below it, and those over it after.
function stack(values) {
  const sums = [];
  let below = [];
  for (const own of [...values].reverse()) {
    below = own.map(
      (value, at) => (value === null && below[at] === undefined ? null : (value ?? 0) + (below[at] ?? 0))
    );
    sums.unshift(below);
  }
  return sums;
}

// Each bar gets a place of its own on the x axis; the other series have nothing there.
function spreadOut(names, series, values, slots) {
  const places = Array.from({ length: names.length * slots }, (_, index) => index);
  return [
    places,
    ...series.map(
      (_, own) => places.map(
        (place) => (place % slots === own ? values[own]?.[Math.floor(place / slots)] ?? null : null)
      )
    )
  ];
}

function inWords(label, values, write) {
  const there = values.filter((value) => value !== null && value !== undefined);
  if (!there.length) return `${label}: nothing`;
  const [low, high] = [Math.min(...there), Math.max(...there)];
  return `${label}: latest ${write(there.at(-1))}, lowest ${write(low)}, highest ${write(high)}`;
}

const WORDS_MAX = 40;
function barsInWords(names, series, values, write) {
  return names.slice(0, WORDS_MAX).map((name, at) => {
    const said = series.map(
      (one, index) => `${series.length > 1 ? `${one.label} ` : ""}${write(values[index]?.[at] ?? null)}`
    );
    return `${name}: ${said.join(", ")}`;
  }).join("; ");
}

const labels = (series) => series.map((one) => `${one.label}\n${one.tone}`).join("\n");
