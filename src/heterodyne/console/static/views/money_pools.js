// Dollars per million tokens by pool: of the time that requests used, and of all the time that was paid for.

import { barChart } from "../lib/chart.js";
import { h, mount } from "../lib/dom.js";
import { NONE, percent, tokens, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { meter } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { panel } from "./panel.js";
import { prose } from "./prose.js";
import { dayWords, spanWords } from "./span_words.js";

const MICRO = 1e6;
const COLUMNS = [
  { key: "pool", title: "Pool", sort: true },
  { key: "hardware", title: "Hardware", sort: true, render: (row) => row.hardware || NONE },
  figureColumn("tokens", "Tokens", tokens),
  figureColumn("usd", "Busy", usd),
  figureColumn("busyRate", "Busy $/1M", usd),
  figureColumn("paidRate", "Paid $/1M", usd),
  figureColumn("paid", "Paid", usd),
  figureColumn("idle", "Of it idle", usd),
  {
    key: "busyShare", title: "Busy time", sort: true,
    render: (row) => (row.busyShare === null ? NONE : meter(row.busyShare, `${percent(row.busyShare)} of the time up`)),
  },
];

export function poolsPanel() {
  const part = panel({
    title: "Dollars per million tokens by pool",
    hint: "Busy: the time of replicas that requests used, or the price list of hosted pools. "
      + "Paid: with the hours in which nobody asked. A request's time is reckoned at a usual batch, so in larger ones "
      + "their times add up to more than the clock's: then a pool was busy all the time.",
    isWide: true,
  });
  let chart = null;

  function draw(page, hours, period) {
    part.say(`Busy: ${spanWords(period)}. Paid: ${dayWords(period)}.`);
    const rows = rowsOf(page, hours);
    chart?.destroy();
    chart = null;
    if (!rows.length) {
      part.empty(`No requests in ${period.words}, and no replica was up.`, "Send requests, or choose a longer span.");
      return;
    }
    const priced = rows.filter((row) => row.busyRate !== null || row.paidRate !== null);
    if (priced.length) {
      chart = barChart({
        labels: priced.map((row) => row.pool),
        series: [{ label: "busy", tone: 1 }, { label: "paid", tone: 2 }],
        values: [priced.map((row) => row.busyRate), priced.map((row) => row.paidRate)],
        format: usd,
        horizontal: true,
      });
    }
    const shown = table({ caption: "Dollars by pool", columns: COLUMNS, rows, rowKey: (row) => row.pool });
    const unpriced = h("p", { class: "panel-note" }, prose("No pool has a price: set `price_usd_per_hour`."));
    mount(part.body, chart?.element ?? unpriced, shown.element);
  }

  return {
    element: part.element,
    show: ({ period, sources }) =>
      part.load(
        () => Promise.all([sources.history("pool,hardware"), sources.idle()]),
        ([page, hours]) => draw(page, hours, period),
      ),
    destroy: () => chart?.destroy(),
  };
}

// One row a pool, from the requests of the span and the hours of its days; either may know pools the other does not.
export function rowsOf(page, hours) {
  const rows = new Map();
  const rowOf = (pool, hardware) => {
    if (!rows.has(pool)) {
      rows.set(pool, {
        pool, hardware, tokens: 0, usd: 0, busyRate: null, paidTokens: 0, paid: null, spent: 0, idle: null, up: 0,
        busy: 0, paidRate: null, busyShare: null,
      });
    }
    return rows.get(pool);
  };
  for (const line of page.lines) {
    if (!line.group.pool) continue; // refused before a pool was chosen
    const row = rowOf(line.group.pool, line.group.hardware);
    row.tokens += line.whole.prompt_tokens + line.whole.completion_tokens;
    row.usd += line.whole.usd;
  }
  for (const { hours: day, cost } of hours.rows) {
    const row = rowOf(day.pool, day.hardware);
    row.paid += day.paid_usd_micro / MICRO;
    row.spent += Math.max(day.paid_usd_micro, day.busy_usd_micro) / MICRO;
    row.idle += cost.idle_usd_micro / MICRO;
    row.paidTokens += day.tokens;
    row.up += day.up_us;
    row.busy += day.busy_us;
  }
  for (const row of rows.values()) {
    if (row.tokens && row.usd) row.busyRate = (row.usd / row.tokens) * MICRO;
    if (row.paidTokens) row.paidRate = (row.spent / row.paidTokens) * MICRO;
    if (row.up) row.busyShare = Math.min(1, row.busy / row.up);
  }
  return [...rows.values()].sort((a, b) => (b.paid ?? b.usd) - (a.paid ?? a.usd));
}
