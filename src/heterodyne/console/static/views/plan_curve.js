// Operating curves: what being faster costs. Each line is one way to serve, from one request at once to as many as the
// targets allow; to the left it is cheaper, below it is faster.

import { curveChart } from "../lib/chart.js";
import { ms, usd } from "../lib/format.js";
import { tabs } from "../lib/widgets.js";

const HEIGHT = 300;
const LINES_MAX = 6; // more cannot be told apart
const MEASURES = [{ id: "ttft_ms", title: "First token, p99" }, { id: "itl_ms", title: "Between tokens, p99" }];

// -> { element, destroy() }; null where nothing has a price
export function operatingCurves(choices) {
  const priced = choices.filter((choice) => choice.usd_per_million_tokens !== null && choice.curve.length > 1);
  const lines = priced.slice(0, LINES_MAX);
  if (!lines.length) return null;
  let measure = MEASURES[0].id;
  const pick = tabs({ label: "Time", items: MEASURES, value: measure, onChange: (id) => {
    measure = id;
    chart.update(pointsOf(lines, measure));
  } });
  const chart = curveChart({
    title: "Latency against dollars per million tokens",
    tools: pick.element,
    height: HEIGHT,
    series: lines.map((line) => ({ label: nameOf(line) })),
    points: pointsOf(lines, measure),
    writeX: usd,
    writeY: ms,
    inWords: () => lines.map((line) => inWords(line, measure)).join("; "),
  });
  chart.element.querySelector("figcaption").classList.add("curve-head");
  return chart;
}

function pointsOf(lines, measure) {
  return lines.map((line) => line.curve
    .map((point) => [point.usd_per_million_tokens, point[measure]])
    .filter(([price, time]) => price > 0 && time > 0)
    .sort((a, b) => a[0] - b[0]));
}

function nameOf(line) {
  return `${line.tp} × ${line.hardware}`;
}

function inWords(line, measure) {
  const [first, last] = [line.curve[0], line.curve.at(-1)];
  return `${nameOf(line)}: ${ms(first[measure])} for ${usd(first.usd_per_million_tokens)} with one request at once, `
    + `${ms(last[measure])} for ${usd(last.usd_per_million_tokens)} with ${last.concurrency}`;
}
