// Figures of groups over time, drawn over those of an earlier period where there is one.

import { lineChart } from "../lib/chart.js";
import { mount } from "../lib/dom.js";
import { unitTicks, percentTicks, withTicks } from "../lib/chart/tick_words.js";
import { ms, percent } from "../lib/format.js";
import { groupName, MEASURES, PERCENTILES, valuesAt } from "./measures.js";
import { panel } from "./panel.js";
import { stepsOf } from "./period.js";
import { spanWords } from "./span_words.js";
import { tonesOf } from "./tones.js";

const LINES_MAX = 8; // more cannot be told apart; the table has all of them

export function percentilePanel() {
  return linesPanel({
    name: (values) => `${MEASURES[values.measure]} ${PERCENTILES[values.percentile]} over time`,
    pick: (values) => (figures) => figures[values.measure][values.percentile],
    format: () => ms,
    missing: "No answered requests",
    todo: "Choose a longer span, or send requests.",
    isWide: true,
  });
}

export function errorPanel() {
  return linesPanel({
    hint: "Predicted against actual: half of the predictions were off by less than this.",
    name: (values) => `Error of predicted ${values.measure === "itl" ? "ITL" : "TTFT"}`,
    pick: (values) => (figures) => offBy(values.measure === "itl" ? figures.itl_error : figures.ttft_error),
    format: offFormat,
    missing: "No request with a prediction",
    todo: "Predictions need a performance model: name the `hardware` of pools.",
  });
}

export function promisePanel() {
  return linesPanel({
    hint: "Requests with a latency target: the share that missed it, so that small differences show.",
    name: () => "Promises broken",
    pick: () => (figures) => (figures.attainment === null ? null : 1 - figures.attainment),
    format: () => percent,
    missing: "Nothing was promised",
    todo: "Give a model `slo_ttft_ms` and `slo_itl_ms` to have its promises counted.",
  });
}

// A distance on the logarithmic scale as the share by which the larger of the two exceeds the smaller.
function offBy(distance) {
  return distance === null ? null : Math.expm1(distance);
}

// All in per cent, or all as factors where per cents would be hundreds.
function offFormat(columns) {
  const most = Math.max(0, ...columns.flat().filter((value) => value !== null));
  if (most < 1) return withTicks(percent, percentTicks);
  const factor = (off) => (off === null ? percent(null) : `${(off + 1).toFixed(1)}×`);
  return withTicks(factor, (step, high) => {
    const write = unitTicks("")(step, high);
    return (off) => `${write(off + 1)}×`;
  });
}

function linesPanel({ hint, name, pick, format, missing, todo, isWide }) {
  const part = panel({ title: "", hint, isWide });
  let chart = null;

  function draw(page, before, { period, earlier, values }) {
    const times = stepsOf(page);
    const lines = busiest(page.lines);
    const tone = tonesOf(values.group, page.lines.map((line) => groupName(line.group)));
    const { series, columns } = drawn(lines, before, times, { pick: pick(values), earlier, tone });
    part.rename(name(values));
    part.say(windowWords(period, earlier, page.lines.length));
    if (!columns.some((column) => column.some((value) => value !== null))) {
      drop();
      part.empty(`${missing} in ${period.words}.`, todo);
    } else if (chart) {
      chart.update(times, columns, series, format(columns));
    } else {
      chart = lineChart({ format: format(columns), label: name(values), series, times, values: columns, kind: "line" });
      mount(part.body, chart.element);
    }
  }

  function drop() {
    chart?.destroy();
    chart = null;
  }

  return {
    element: part.element,
    // What is named is what is drawn: the old picture keeps its name until the next one is there.
    show: (asked) =>
      part.load(
        () => Promise.all([asked.sources.history(asked.period), asked.sources.history(asked.earlier)]),
        ([page, before]) => draw(page, before, asked),
      ),
    destroy: drop,
  };
}

function busiest(lines) {
  return [...lines].sort((a, b) => b.whole.requests - a.whole.requests).slice(0, LINES_MAX);
}

// The lines of now, and dashed and paler under each the one of the earlier period.
function drawn(lines, before, times, { pick, earlier, tone }) {
  const series = lines.map((line) => ({ label: groupName(line.group), tone: tone(groupName(line.group)) }));
  const columns = lines.map((line) => valuesAt(line, times, pick));
  if (before) {
    lines.forEach((line) => {
      const name = groupName(line.group);
      const same = before.lines.find((other) => groupName(other.group) === name);
      if (!same) return;
      series.push({ label: `${name}, ${earlier.words}`, tone: tone(name), dash: [4, 4] });
      columns.push(valuesAt(same, times, pick, earlier.shift));
    });
  }
  return { series, columns };
}

function windowWords(period, earlier, lines) {
  const over = earlier ? `; dashed: ${spanWords(earlier)}` : "";
  const cut = lines > LINES_MAX ? `; the ${LINES_MAX} busiest of ${lines}` : "";
  return spanWords(period) + over + cut;
}
