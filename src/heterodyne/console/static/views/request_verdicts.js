// What policies found in one request and its answer: where, how sure they are, and what was done. Never the words.

import { h } from "../lib/dom.js";
import { count, percent } from "../lib/format.js";
import { table } from "../lib/table.js";

const DONE = { flag: "written down", mask: "masked", block: "blocked" };

export function verdictsPart(record) {
  const verdicts = record.guards ?? [];
  if (!verdicts.length) return null;
  const list = table({
    caption: "What policies found",
    rows: verdicts.map((verdict, place) => ({ ...verdict, place })),
    rowKey: (row) => String(row.place),
    columns: [
      { key: "policy", title: "Policy" },
      { key: "guard", title: "Guard", render: (row) => `${row.guard} ${row.version}` },
      { key: "rule", title: "Found", render: (row) => row.rule.replaceAll("_", " ") },
      { key: "where", title: "In", render: (row) => row.where || (row.direction === "input" ? "the request" : "the answer") },
      { key: "start", title: "Characters", numeric: true, render: span },
      { key: "score", title: "Sure", numeric: true, render: (row) => percent(row.score ?? 1) },
      { key: "action", title: "Done", render: (row) => DONE[row.action] ?? row.action },
    ],
  });
  return h("section", { "aria-label": "Policies" }, h("h2", null, "Policies"), list.element);
}

function span({ start = 0, end = 0 }) {
  return end > start ? `${count(start)} to ${count(end)}` : "–";
}
