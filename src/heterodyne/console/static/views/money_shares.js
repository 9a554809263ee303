// Dollars of whole days by one group of the books, the dearest first.

import { barChart } from "../lib/chart.js";
import { h, mount } from "../lib/dom.js";
import { count, percent, tokens, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { figureColumn } from "./figure_column.js";
import { panel } from "./panel.js";
import { dayWords } from "./span_words.js";

const MICRO = 1e6;
const BARS_MAX = 10;
const ROWS_MAX = 15;

export function sharesPanel({ by, title, link }) {
  const part = panel({ title });
  let chart = null;

  function draw(page, period) {
    part.say(dayWords(period));
    const rows = rowsOf(page, by);
    chart?.destroy();
    chart = null;
    if (!rows.length) {
      part.empty(`No requests on these days (${dayWords(period)}).`, "Choose a longer span, or send requests.");
      return;
    }
    const top = rows.slice(0, BARS_MAX);
    chart = barChart({
      labels: top.map((row) => row.name), series: [{ label: "dollars", tone: 1 }], values: [top.map((row) => row.usd)],
      format: usd, horizontal: true,
    });
    const shown = table({ caption: title, columns: columnsOf(by, link), rows: cut(rows), rowKey: (row) => row.name });
    mount(part.body, chart.element, shown.element);
  }

  return {
    element: part.element,
    show: ({ period, sources }) => part.load(() => sources.usage(by), (page) => draw(page, period)),
    destroy: () => chart?.destroy(),
  };
}

function rowsOf(page, by) {
  const whole = page.rows.reduce((sum, row) => sum + row.usd_micro, 0);
  return page.rows
    .map((row) => ({
      name: row.group[by] || "(none)",
      requests: row.requests,
      tokens: row.prompt_tokens + row.completion_tokens,
      usd: row.usd_micro / MICRO,
      saved: row.saved_usd_micro / MICRO,
      share: whole ? row.usd_micro / whole : null,
    }))
    .map((row) => ({ ...row, rate: row.tokens ? (row.usd / row.tokens) * MICRO : null }))
    .sort((a, b) => b.usd - a.usd || b.tokens - a.tokens);
}

// The dearest, and all others as one, so that the column still adds up.
function cut(rows) {
  if (rows.length <= ROWS_MAX) return rows;
  const others = rows.slice(ROWS_MAX);
  const sum = (pick) => others.reduce((all, row) => all + pick(row), 0);
  const usdSum = sum((row) => row.usd);
  const tokenSum = sum((row) => row.tokens);
  return [...rows.slice(0, ROWS_MAX), {
    name: `${count(others.length)} others`, isSum: true,
    requests: sum((row) => row.requests), tokens: tokenSum, usd: usdSum, saved: sum((row) => row.saved),
    rate: tokenSum ? (usdSum / tokenSum) * MICRO : null, share: sum((row) => row.share),
  }];
}

function columnsOf(by, link) {
  return [
    {
      key: "name", title: by === "project" ? "Tenant" : "Model", sort: true,
      render: (row) => (link && !row.isSum ? h("a", { href: link(row.name) }, row.name) : row.name),
    },
    figureColumn("usd", "Dollars", usd),
    figureColumn("share", "Share", percent),
    figureColumn("saved", "Saved", usd, { hint: "what answers from the cache cost when replicas gave them" }),
    figureColumn("rate", "$/1M", usd),
    figureColumn("tokens", "Tokens", tokens),
    figureColumn("requests", "Requests", count),
  ];
}
