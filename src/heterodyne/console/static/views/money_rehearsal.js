// What would the other policy have cost: the same traffic under each policy.

import { post } from "../lib/api.js";
import { barChart } from "../lib/chart.js";
import { h, mount } from "../lib/dom.js";
import { count, ms, NONE, percent, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { rehearsalForm } from "./money_rehearsal_form.js";
import { panel } from "./panel.js";
import { prose } from "./prose.js";
import { momentWords } from "./span_words.js";

export function rehearsalPanel(state, context) {
  const part = panel({
    title: "What would the other policy have cost?",
    hint: "The requests that came, once more, through the simulator under each policy. It may take some seconds.",
    isWide: true,
  });
  const answer = h("div", { class: "answer", "aria-live": "polite" });
  const form = rehearsalForm(state, context, run);
  let charts = [];
  mount(part.body, form.element, answer);

  function run(ask) {
    return part.load(() => post("/admin/rehearsal", ask), draw);
  }

  function draw(page) {
    drop();
    part.say(`${page.model}: ${count(page.requests)} requests, ${momentWords(page.since_at, page.until_at)}`);
    const labels = page.rows.map((row) => row.policy);
    const bars = (title, format, ...series) => {
      const made = barChart({
        title, labels, format, horizontal: true,
        series: series.map(([label], index) => ({ label, tone: index + 1 })),
        values: series.map(([, pick]) => page.rows.map(pick)),
      });
      charts.push(made);
      return made.element;
    };
    const shown = table({
      caption: "Policies under the same traffic", columns: COLUMNS, rows: page.rows, rowKey: (row) => row.policy,
    });
    mount(answer,
      shown.element,
      h("div", { class: "bars" },
        bars("Dollars, busy", usd, ["busy", (row) => row.usd_busy]),
        bars("Promises kept", percent, ["kept", (row) => row.attainment]),
        bars("First token", ms, ["p50", (row) => row.ttft_p50_ms], ["p99", (row) => row.ttft_p99_ms])),
      notesOf(page));
  }

  function drop() {
    for (const chart of charts) chart.destroy();
    charts = [];
  }

  return {
    element: part.element,
    destroy: () => {
      drop();
      form.destroy();
    },
  };
}

const COLUMNS = [
  {
    key: "policy", title: "Policy", sort: true,
    render: (row) => [row.policy, row.is_used && " ", row.is_used && badge("in use", "accent")],
  },
  figureColumn("usd_busy", "Dollars, busy", usd),
  figureColumn("usd", "Dollars, all replicas", usd),
  {
    key: "usd_per_million_output_tokens_within_slo", title: "$/1M output within target", numeric: true, sort: true,
    render: (row) => usd(row.usd_per_million_output_tokens_within_slo),
  },
  figureColumn("attainment", "Promises kept", percent),
  figureColumn("ttft_p50_ms", "TTFT p50", ms),
  figureColumn("ttft_p99_ms", "TTFT p99", ms),
  figureColumn("itl_p50_ms", "ITL p50", ms),
  {
    key: "pools", title: "Where they went",
    render: (row) => row.pools.map((pool) => `${pool.pool} ${count(pool.requests)}`).join(", ") || NONE,
  },
];

function notesOf(page) {
  const notes = [...page.notes];
  if (page.left_out.length) notes.unshift(`Left out, unknown to the simulator: ${page.left_out.join(", ")}.`);
  return notes.length && h("ul", { class: "notes" }, notes.map((note) => h("li", null, prose(note))));
}
