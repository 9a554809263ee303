// The decision table: every replica that could have had the request, and why it did or did not.

import { h } from "../lib/dom.js";
import { count, ms, percent, tokens, usd, usdPerMillion } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";

const VERDICTS = { chosen: "accent", backup: "good", passed: "", excluded: "warn" };
const PROMISES = { kept: "good", likely: "good", crowded: "warn", broken: "bad" };

export function decisionPart(explanation) {
  const list = table({
    caption: "Every replica that was considered",
    rows: explanation.candidates, rowKey: (row) => row.replica,
    rowClass: (row) => row.verdict,
    empty: "No replica was considered.",
    columns: [
      { key: "replica", title: "Replica", sort: true },
      {
        key: "hardware",
        title: "Hardware",
        sort: true,
        render: (row) => (row.hardware ?? "–") + (row.tp > 1 ? ` × ${row.tp}` : ""),
      },
      { key: "verdict", title: "Verdict", sort: true, render: (row) => badge(row.verdict, VERDICTS[row.verdict]) },
      { key: "ttft", title: "TTFT", numeric: true, sort: (row) => row.ttft.ms, render: (row) => span(row.ttft) },
      { key: "itl", title: "ITL", numeric: true, sort: (row) => row.itl.ms, render: (row) => span(row.itl) },
      { key: "wait_ms", title: "Wait", numeric: true, sort: true, render: (row) => ms(row.wait_ms) },
      { key: "load", title: "Load", numeric: true, sort: true, render: (row) => percent(row.load) },
      { key: "cached_tokens", title: "Cached", numeric: true, sort: true, render: (row) => tokens(row.cached_tokens) },
      { key: "usd", title: "Cost", numeric: true, sort: true, render: (row) => usd(row.usd) },
      {
        key: "usd_per_million_tokens",
        title: "$/1M",
        numeric: true,
        sort: true,
        render: (row) => usdPerMillion(row.usd_per_million_tokens),
      },
      {
        key: "promise",
        title: "Promise",
        sort: true,
        render: (row) => (row.promise ? badge(row.promise, PROMISES[row.promise]) : "–"),
      },
      { key: "reason", title: "Why" },
    ],
  });
  return h("section", { "aria-label": "Decision", dataset: { part: "decision" } },
    h("h2", null, "Decision"),
    h("p", { class: "conclusion" }, explanation.conclusion),
    h("p", { class: "muted" }, asked(explanation)),
    list.element,
    explanation.notes.map((note) => h("p", { class: "muted" }, note)),
    explanation.instead && [
      h("p", null, `Another model answered in its place: ${explanation.instead.asked.model}.`),
      decisionPart(explanation.instead),
    ]);
}

function span({ ms: middle, low_ms, high_ms }) {
  return h(
    "span",
    { title: "nine times in ten between the two" },
    ms(middle),
    h("span", { class: "range" }, `${ms(low_ms)} – ${ms(high_ms)}`),
  );
}

function asked({ asked: question, worker }) {
  const words = [
    `${question.model} by policy ${question.policy}`, question.urgency,
    `${count(question.prompt_tokens)} prompt tokens`, `${count(question.output_tokens)} expected in answer`,
  ];
  if (question.slo_ttft_ms !== null) words.push(`promised TTFT ${ms(question.slo_ttft_ms)}`);
  if (question.slo_itl_ms !== null) words.push(`promised ITL ${ms(question.slo_itl_ms)}`);
  if (worker) words.push(`as worker ${worker} saw it`);
  return words.join(" · ");
}
