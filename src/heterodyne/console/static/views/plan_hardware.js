// On what: every accelerator that keeps the targets, the cheapest first, with the price of being faster.

import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { count, ms, NONE, rate, tokens, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { figureColumn } from "./figure_column.js";
import { operatingCurves } from "./plan_curve.js";
import { wishOf } from "./plan_form.js";
import { prose } from "./prose.js";

export const hardwareQuestion = {
  id: "hardware",
  title: "On what?",
  hint: "Every accelerator that serves the model within its targets, by dollars per million tokens.",
  submit: "Rank",
  answerTitle: "Ranking",
  fields: [
    "model", "precision", "kv_precision", "workload_class", "slo_ttft_ms", "slo_itl_ms", "recorded_model",
    "prompt_tokens", "output_tokens",
    "requests_per_s", "every_width",
  ],
  ask: (values) => post("/admin/plan/hardware", {
    ...wishOf(values),
    every_width: values.every_width,
  }),
  draw(answer) {
    const curves = operatingCurves(answer.choices);
    const ranking = table({
      caption: "Accelerators, the cheapest first", columns: COLUMNS, rows: answer.choices, rowKey: nameOf,
      empty: "None keeps the targets: allow more time, take fewer tokens, or another precision.",
    });
    return {
      window: targetWords(answer),
      element: [curves?.element, ranking.element, refusedOf(answer), notesOf(answer.notes)],
      destroy: () => curves?.destroy(),
    };
  },
};

export function targetWords(answer) {
  return `${answer.model} in ${answer.precision}, ${rate(answer.requests_per_s, "requests/s")}${lengthWords(answer)}, `
    + `first token within ${ms(answer.slo_ttft_ms)}, ${ms(answer.slo_itl_ms)} a token`;
}

export function notesOf(notes) {
  return notes.length > 0 && h("ul", { class: "notes" }, notes.map((note) => h("li", null, prose(note))));
}

const COLUMNS = [
  {
    key: "hardware", title: "Hardware", sort: true, stamp: nameOf,
    render: (row) => h("span", { class: "strong whole" }, nameOf(row)),
  },
  { key: "engine", title: "Engine", sort: true },
  figureColumn("usd_per_million_tokens", "$/1M tokens", usd),
  figureColumn("replicas", "Replicas", count),
  figureColumn("usd_per_hour", "$/h", usd),
  figureColumn("concurrency", "At once", count),
  figureColumn("requests_per_s", "Of one replica", (n) => rate(n, "requests/s")),
  figureColumn("ttft_p50_ms", "TTFT p50", ms),
  figureColumn("ttft_ms", "TTFT p99", ms),
  figureColumn("itl_ms", "ITL p99", ms),
  figureColumn("power_w", "Power", (watts) => (watts === null ? NONE : `${(watts / 1000).toFixed(1)} kW`)),
  { key: "reason", title: "Why no more" },
];

function nameOf(row) {
  return `${row.tp} × ${row.hardware}`;
}

function lengthWords(answer) {
  if (answer.prompt_tokens === undefined) return "";
  return ` of ${tokens(answer.prompt_tokens)} + ${tokens(answer.output_tokens)} tokens`;
}

function refusedOf(answer) {
  if (!answer.refused.length) return null;
  return h("details", null, h("summary", null, `${count(answer.refused.length)} that cannot, and why`),
    h("ul", { class: "notes" }, answer.refused.map((one) => h("li", null, `${nameOf(one)}: ${one.reason}`))));
}
