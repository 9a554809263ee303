// The list of requests, whether they came with the live page or out of the books.

import { h } from "../lib/dom.js";
import { clock, ms, shortDateTime, tokens, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { retryWords } from "./request_record.js";

// Those in the books come by time, page by page: sorting the pages that happen to be here would show the slowest of
// these for the slowest of all. There the filters find what is slow, failed or dear.
export function requestTable({ caption, open, link, empty, isStored, rowsMax }) {
  const made = table({
    caption, onOpen: open, empty, rows: [], rowKey: (row) => row.id, rowsMax,
    columns: [
      { key: "at", title: "Time", sort: true, render: (row) => (isStored ? shortDateTime(row.at) : clock(row.at)) },
      {
        key: "id",
        title: "Request",
        stamp: (row) => row.id,
        render: (row) => h("a", { class: "request-id", href: link(row) }, row.id),
      },
      { key: "project", title: "Project", sort: true },
      { key: "model", title: "Model", sort: true, render: (row) => row.model || "–" },
      { key: "pool", title: "Pool", sort: true, render: (row) => row.pool || "–" },
      {
        key: "status",
        title: "Result",
        sort: true,
        stamp: (row) => `${row.status} ${row.reason}`,
        render: (row) => badge(String(row.status), tone(row)),
      },
      {
        key: "completion_tokens",
        title: "Tokens",
        numeric: true,
        sort: true,
        hint: "of the prompt and of the answer",
        render: (row) => `${tokens(row.prompt_tokens)} → ${tokens(row.completion_tokens)}`,
      },
      { key: "ttft_ms", title: "TTFT", numeric: true, sort: true, render: (row) => ms(row.ttft_ms) },
      {
        key: "predicted_ttft_ms",
        title: "Predicted",
        numeric: true,
        sort: true,
        render: (row) => ms(row.predicted_ttft_ms),
      },
      { key: "itl_ms", title: "ITL", numeric: true, sort: true, render: (row) => ms(row.itl_ms) },
      { key: "total_ms", title: "Total", numeric: true, sort: true, render: (row) => ms(row.total_ms) },
      { key: "usd", title: "Cost", numeric: true, sort: true, render: (row) => usd(row.usd) },
      { key: "tags", title: "Notes", stamp: tagWords, render: tags },
    ].map((column) => (isStored ? { ...column, sort: false } : column)),
  });
  made.element.classList.add("request-list");
  return made;
}

// A record of the books as a line of the list.
export function lineOf(record) {
  return { ...record, urgency: record.class, usd: record.usd_micro / 1e6 };
}

export function result(row) {
  return badge(row.reason ? `${row.status} ${row.reason}` : String(row.status), tone(row));
}

function tone(row) {
  if (!row.reason) return "good";
  return row.status >= 500 ? "bad" : "warn";
}

function tagWords(row) {
  const words = row.reason ? [row.reason] : [];
  if (row.promise === "broken") words.push("promise broken");
  if (row.retries) words.push(retryWords(row.retries));
  if (row.queue_ms) words.push(`queued ${ms(row.queue_ms)}`);
  if (row.cached_tokens) words.push(`${tokens(row.cached_tokens)} cached`);
  return words.join(", ");
}

function tags(row) {
  const words = tagWords(row);
  return h("span", { class: row.reason || row.promise === "broken" || row.retries ? "warn" : "muted" }, words);
}
