// One request: where it went and why, how long each step took, what was predicted, what it used and cost.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { dateTime } from "../lib/format.js";
import { hashOf } from "../lib/route.js";
import { decisionPart } from "./request_decision.js";
import { comparisonPart, factsPart, timelinePart } from "./request_record.js";
import { verdictsPart } from "./request_verdicts.js";
import { lineOf, result } from "./request_table.js";

const POLL_S = 2;
const POLLS_MAX = 150; // five minutes of an answer that is still being written

export function renderDetail(root, context) {
  const { id, ...list } = context.params;
  const back = hashOf("requests", list); // with the filters it was found by
  const body = h("div", { class: "detail" }, h("p", { class: "empty" }, "Looking…"));
  let timer = 0;
  let isOver = false;
  mount(root,
    h(
      "div",
      { class: "view-head" },
      h("h1", null, "Request ", h("span", { class: "request-id" }, id)),
      h("a", { href: back, title: "Esc" }, Object.keys(list).length ? "Back to the list" : "All requests"),
    ),
    body);

  async function load(polls) {
    const found = await find(id, context.live);
    if (isOver) return;
    draw(body, found);
    if (found.decision && !found.record && polls < POLLS_MAX) timer = setTimeout(() => load(polls + 1), POLL_S * 1000);
  }

  function leave(event) {
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    context.navigate(back);
  }

  document.addEventListener("keydown", leave);
  load(0);
  return () => {
    document.removeEventListener("keydown", leave);
    isOver = true;
    clearTimeout(timer);
  };
}

// -> { decision, record, why }; each may be null. A decision is kept for a while, a record for long.
async function find(id, live) {
  const found = { decision: null, record: null, why: null };
  try {
    found.decision = await get(`/admin/decisions/${encodeURIComponent(id)}`);
    found.record = found.decision.record;
    if (found.record) return found;
  } catch (error) {
    found.why = error.message;
  }
  try {
    const page = await get("/admin/usage/requests", { id, limit: 1 });
    if (page.requests.length) found.record = lineOf(page.requests[0]);
  } catch (error) {
    found.why ??= error.message;
  }
  found.record ??= live.recent.find((row) => row.id === id) ?? null;
  if (found.record) found.record = { ...found.record, guards: await findingsOf(id) };
  return found;
}

// A record of the books is without them; they are kept by themselves.
async function findingsOf(id) {
  try {
    const page = await get("/admin/guards/hits", { request: id, since_at: 0 });
    return page.hits.map((hit) => hit.verdict).reverse();
  } catch {
    return []; // of a console over no stores
  }
}

function draw(body, { decision, record, why }) {
  const isKept = decision !== null;
  mount(body,
    record && h("section", null, h("p", null, result({ reason: "", ...record }), " ", summary(record))),
    !record && isKept && h("p", null, "It is still being answered."),
    !record && !isKept && h("p", { class: "problem" }, "Nothing is known of this request."),
    record && h("div", { class: "detail-pair" }, timelinePart(record), comparisonPart(record, decision)),
    isKept ? decisionPart(decision.explanation) : h(
      "section", null, h("h2", null, "Decision"), h("p", { class: "muted" }, why)
    ),
    record && verdictsPart(record),
    record && factsPart(record));
}

function summary(record) {
  const where = record.replica ? ` on ${record.replica}` : "";
  const isOther = record.asked_model && record.asked_model !== record.model;
  const model = isOther ? `${record.asked_model}, answered by ${record.model}` : record.model;
  return [`${model}${where}`, dateTime(record.at)].filter(Boolean).join(", ");
}
