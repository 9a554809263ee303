// What the record of one request says: its steps to scale, prediction beside truth, tokens and money.

import { h } from "../lib/dom.js";
import { bytes, count, ms, percent, tokens, usd } from "../lib/format.js";
import { table } from "../lib/table.js";

// From the moment the request was complete; TTFT and total count from its turn on, so its wait comes before them.
export function timelinePart(record) {
  if (!record.total_ms) return null; // refused at the door: there is nothing to measure
  const queue_ms = record.queue_ms ?? 0;
  const own_ms = record.overhead_ms ?? 0;
  const connect_ms = record.connect_ms ?? 0;
  const end_ms = Math.max(queue_ms + record.total_ms, 0.001);
  const first_ms = record.ttft_ms === null || record.ttft_ms === undefined ? null : queue_ms + record.ttft_ms;
  const sent_ms = Math.min(queue_ms + own_ms + connect_ms, first_ms ?? end_ms);
  const untilFirst = record.retries ? `First token, after ${retryWords(record.retries)}` : "Until the first token";
  const steps = [
    queue_ms > 0 && ["Waited for its turn", 0, queue_ms, "wait"],
    own_ms > 0 && ["Gateway's own work", queue_ms, own_ms, "own"],
    connect_ms > 0 && ["Sent to the replica", sent_ms - connect_ms, connect_ms, "own"],
    first_ms !== null && [untilFirst, sent_ms, first_ms - sent_ms, "engine"],
    first_ms !== null && ["Streamed the answer", first_ms, end_ms - first_ms, "stream"],
    first_ms === null && record.reason && ["Until it ended without an answer", sent_ms, end_ms - sent_ms, "wait"],
    first_ms === null && !record.reason && ["Until the whole answer", sent_ms, end_ms - sent_ms, "engine"],
  ].filter(Boolean);
  return h("section", { "aria-label": "Timeline" }, h("h2", null, `Timeline, ${ms(end_ms)}`),
    h("div", { class: "timeline" }, steps.map(([name, from, length, step]) => {
      const bar = h("span", { class: "timeline-bar", dataset: { step } });
      bar.style.setProperty("left", `${(100 * from) / end_ms}%`);
      bar.style.setProperty("width", `${Math.max(0, (100 * length) / end_ms)}%`);
      return h("div", { class: "timeline-step" },
        h("span", { class: "timeline-name" }, name),
        h("span", { class: "timeline-track" }, bar),
        h("span", { class: "timeline-time numeric" }, ms(length)));
    })));
}

export function comparisonPart(record, decision) {
  const chosen = decision?.explanation.candidates.find(
    (one) => one.verdict === "chosen" && one.replica === record.replica
  );
  const rows = [["TTFT", "ttft"], ["ITL", "itl"]].map(([title, name]) => ({
    title,
    predicted_ms: record[`predicted_${name}_ms`] ?? null,
    actual_ms: record[`${name}_ms`] ?? null,
    span: chosen?.[name] ?? null,
  })).filter((row) => row.predicted_ms !== null);
  if (!rows.length) return null;
  const list = table({
    caption: "Predicted beside actual", rows, rowKey: (row) => row.title,
    columns: [
      { key: "title", title: "Time" },
      { key: "predicted_ms", title: "Predicted", numeric: true, render: (row) => ms(row.predicted_ms) },
      {
        key: "span",
        title: "nine times in ten",
        numeric: true,
        render: (row) => (row.span ? `${ms(row.span.low_ms)} to ${ms(row.span.high_ms)}` : "–"),
      },
      { key: "actual_ms", title: "Actual", numeric: true, render: (row) => ms(row.actual_ms) },
      { key: "error", title: "Error", numeric: true, render: (row) => off(row) },
    ],
  });
  list.element.classList.add("narrow");
  return h("section", { "aria-label": "Predicted and actual" }, h("h2", null, "Predicted and actual"), list.element);
}

function off({ predicted_ms, actual_ms }) {
  if (actual_ms === null || !predicted_ms) return "–";
  const share = actual_ms / predicted_ms - 1;
  return `${share >= 0 ? "+" : "−"}${percent(Math.abs(share))}`;
}

export const retryWords = (retries) => (retries === 1 ? "1 retry" : `${count(retries)} retries`);

// The names are kept with the decision, and go with it.
function failedWords(record) {
  return record.failed_tries?.length ? record.failed_tries.map(tryWords).join(", ") : "not known any more";
}

function tryWords({ replica, outcome }) {
  return `${replica} (${outcome.replaceAll("_", " ")})`;
}

/** Where its KV came from, how much of it, and what that was worth. */
function kvWords(record) {
  const saved = record.kv_saved_ms ?? null;
  const worth = saved === null ? "" : `, first token ${ms(Math.abs(saved))} ${saved < 0 ? "later" : "sooner"} than computed`;
  return `${record.kv_origin}: ${bytes(record.kv_bytes ?? 0)} in ${ms(record.kv_ms ?? 0)}${worth}`;
}

export function factsPart(record) {
  const facts = [
    ["Prompt", `${tokens(record.prompt_tokens ?? 0)} tokens`],
    ["of it cached", `${tokens(record.cached_tokens ?? 0)} tokens`],
    ["Answer", `${tokens(record.completion_tokens ?? 0)} tokens${record.is_estimated ? ", counted here" : ""}`],
    record.kv_origin && ["KV brought from", kvWords(record)],
    record.reasoning_tokens && ["of it reasoning", `${tokens(record.reasoning_tokens)} tokens`],
    ["Cost", usd(record.usd ?? null)],
    record.cascade && ["Cascade", record.cascade.replaceAll("_", " ")],
    ["hit", "similar"].includes(record.cache) && ["Saved by the cache", usd(record.saved_usd ?? 0)],
    record.usd && [
      "Cost per 1M",
      usd((record.usd / Math.max(1, (record.prompt_tokens ?? 0) + (record.completion_tokens ?? 0))) * 1e6),
    ],
    record.replica_s && ["Replica's time", ms(record.replica_s * 1000)],
    ["Project", record.project ?? record.tenant],
    ["Tier", record.tier],
    ["Class", record.urgency || "interactive"],
    ["Pool", record.pool],
    ["Replica", record.replica],
    ["Hardware", record.hardware],
    ["Operation", record.operation],
    ["Promise", record.promise || "none"],
    ["Retries", count(record.retries ?? 0)],
    record.continuations && ["Continued on another", count(record.continuations)],
    (record.retries || record.continuations) && ["Failed before", failedWords(record)],
    record.is_hedged && ["Hedged", "yes"],
    record.response_bytes && ["Answer's size", bytes(record.response_bytes)],
    record.trace && ["Trace", record.trace],
  ].filter((fact) => fact && fact[1]);
  return h("section", { "aria-label": "Tokens and cost" }, h("h2", null, "Tokens and cost"),
    h(
      "dl", { class: "facts" }, facts.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))
    ));
}
