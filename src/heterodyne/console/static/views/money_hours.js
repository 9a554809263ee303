// Hours of replicas that were paid for, by day: those that requests used, and those that nobody did.

import { lineChart } from "../lib/chart.js";
import { unitTicks, withTicks } from "../lib/chart/tick_words.js";
import { mount } from "../lib/dom.js";
import { rate } from "../lib/format.js";
import { choice } from "./choice.js";
import { panel } from "./panel.js";
import { DAY_S, daysOf } from "./period.js";
import { dayWords } from "./span_words.js";

const HOUR_US = 3600e6;
const HOURS = withTicks((hours) => rate(hours, "h"), unitTicks("h"));
const DAYS_MIN = 7; // a single day says little about idle hours
const SERIES = [{ label: "idle", tone: "muted" }, { label: "busy", tone: 1 }];

export function hoursPanel(state) {
  let redraw = () => {};
  let chart = null;
  const of = choice({
    label: "Pool", options: { "": "every pool" }, value: "",
    onChange: (pool) => {
      state.set({ pool });
      redraw();
    },
  });
  const part = panel({
    title: "Busy against idle hours", hint: "Hours of replicas that are paid by the hour.", tools: of.element,
  });

  function draw(page, { period, values }) {
    const pools = [...new Set(page.rows.map((row) => row.hours.pool))].sort();
    of.set({ "": "every pool", ...Object.fromEntries(pools.map((pool) => [pool, pool])) }, values.pool);
    const rows = page.rows.filter(({ hours }) => !pools.includes(values.pool) || hours.pool === values.pool);
    part.say(dayWords(period, DAYS_MIN));
    chart?.destroy();
    chart = null;
    if (!rows.length) {
      part.empty("No replica that is paid by the hour was up.", "Set `price_usd_per_hour` in pools.");
      return;
    }
    const { times, idle, busy } = byDay(rows, daysOf(period, DAYS_MIN));
    chart = lineChart({
      format: HOURS, series: SERIES, times, values: [idle, busy], kind: "bars", stacked: true,
    });
    mount(part.body, chart.element);
  }

  return {
    element: part.element,
    show: (asked) =>
      part.load(() => asked.sources.idle(daysOf(asked.period, DAYS_MIN)), (page) => {
        redraw = () => draw(page, asked);
        redraw();
      }),
    destroy: () => chart?.destroy(),
  };
}

// Requests' times are reckoned and may pass the time that a replica was up: then it was busy all of it.
export function byDay(rows, days) {
  const sums = new Map();
  const [first, end] = [days.since, days.until].map((day) => Date.parse(day) / 1000);
  for (let at = first; at < end; at += DAY_S) sums.set(at, { up: 0, busy: 0 });
  for (const { hours } of rows) {
    const day = sums.get(Date.parse(hours.day) / 1000);
    if (!day) continue;
    day.up += hours.up_us / HOUR_US;
    day.busy += hours.busy_us / HOUR_US;
  }
  const all = [...sums.values()];
  return {
    times: [...sums.keys()],
    busy: all.map((day) => Math.min(day.up, day.busy)),
    idle: all.map((day) => Math.max(0, day.up - day.busy)),
  };
}
