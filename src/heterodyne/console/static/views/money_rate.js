// Dollars per hour over time, one area on the other.

import { lineChart } from "../lib/chart.js";
import { mount } from "../lib/dom.js";
import { usd } from "../lib/format.js";
import { groupName, valuesAt } from "./measures.js";
import { panel } from "./panel.js";
import { stepsOf } from "./period.js";
import { spanWords } from "./span_words.js";
import { tonesOf } from "./tones.js";

const HOUR_S = 3600;
const LINES_MAX = 7;
const ELAPSED_MIN_S = 60; // what is shorter says little

export function ratePanel() {
  const part = panel({
    title: "Dollars per hour",
    hint: "What the requests of each step cost, as if it went on for an hour; idle time is not in it.",
  });
  let chart = null;

  function draw(page, { period, values }) {
    part.say(`${spanWords(period)}, by ${values.group}`);
    const times = stepsOf(page);
    const lines = page.lines.filter((line) => line.whole.usd > 0).sort((a, b) => b.whole.usd - a.whole.usd);
    chart?.destroy();
    chart = null;
    if (!lines.length) {
      const todo = "Set `price_usd_per_hour` in pools, and send requests.";
      part.empty(`No request that cost anything in ${period.words}.`, todo);
      return;
    }
    const perHour = (line) =>
      valuesAt(line, times, (figures) => figures.usd).map((sum, at) => (sum ?? 0) * share(times[at], page.step_s));
    const columns = lines.slice(0, LINES_MAX).map(perHour);
    const tone = tonesOf(values.group, page.lines.map((line) => groupName(line.group)));
    const names = lines.slice(0, LINES_MAX).map((line) => groupName(line.group));
    const series = names.map((label) => ({ label, tone: tone(label) }));
    const rest = lines.slice(LINES_MAX).map(perHour);
    if (rest.length) {
      series.push({ label: `${rest.length} more`, tone: "muted" });
      columns.push(times.map((_, index) => rest.reduce((sum, column) => sum + column[index], 0)));
    }
    chart = lineChart({ format: usd, series, times, values: columns, kind: "area", stacked: true });
    mount(part.body, chart.element);
  }

  return {
    element: part.element,
    show: (asked) => part.load(() => asked.sources.history(asked.values.group), (page) => draw(page, asked)),
    destroy: () => chart?.destroy(),
  };
}

// What turns the sum of a step into a rate by the hour; the step that runs is as long as it has run.
function share(at, stepS) {
  const elapsed = Math.min(stepS, Math.max(ELAPSED_MIN_S, Date.now() / 1000 - at));
  return HOUR_S / elapsed;
}
