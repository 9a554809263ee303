// What is known of a candidate: for each metric how much worse it may be, beside the lines that end or pass a stage.

import { h } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { badge } from "../lib/widgets.js";
import { intervalBar } from "./interval_bar.js";
import { harmWords, JUDGEMENTS, METRICS, rangeWords } from "./rollout_words.js";

// evidenceList(standing) -> Node
export function evidenceList(standing) {
  return h("div", { class: "evidence" },
    standing.evidence.map(metricRow),
    h("ul", { class: "share-legend" },
      h("li", null, h("span", { class: "swatch mark-zero" }), "no change"),
      h("li", null, h("span", { class: "swatch mark-bad" }), "wholly beyond it, the candidate is taken back"),
      h("li", null, h("span", { class: "swatch mark-good" }), "wholly below it, it is enough for this stage")));
}

function metricRow(row) {
  const name = METRICS[row.metric] ?? row.metric;
  const judgement = JUDGEMENTS[row.judgement];
  const [breach, tolerance] = [row.breach, row.tolerance].map((share) => harmWords(row.kind, share));
  const label = `${name}: worse by ${rangeWords(row)}; ${judgement.words}; beyond ${breach} it ends, `
    + `below ${tolerance} it goes on`;
  return h("div", { class: "evidence-row", dataset: { metric: row.metric } },
    h("h3", null, name),
    badge(judgement.words, judgement.tone),
    h("p", { class: "evidence-words" }, `worse by ${rangeWords(row)}`),
    intervalBar({
      label, low: row.low, high: row.high, tone: judgement.tone,
      marks: [
        { name: `ends beyond ${breach}`, value: row.breach, tone: "bad" },
        { name: `goes on below ${tolerance}`, value: row.tolerance, tone: "good" },
      ],
    }),
    h("p", { class: "evidence-counts" },
      `${count(row.candidate_count)} seen of the candidate, ${count(row.baseline_count)} of the baseline; `
        + `ends beyond ${breach}, goes on below ${tolerance}`));
}
