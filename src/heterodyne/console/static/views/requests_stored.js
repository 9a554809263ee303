// Requests in the books: a span of time, filters, and pages.

import { get } from "../lib/api.js";
import { h, setText } from "../lib/dom.js";
import { count, shortDateTime } from "../lib/format.js";
import { spanOf, spanPicker } from "../lib/widgets.js";
import { askedFilters } from "./request_filters.js";
import { lineOf, requestTable } from "./request_table.js";

const PAGE_ROWS = 100;

// -> { element, filter(filters), end() }
export function storedRequests(state, { open, link }, onSpan) {
  let { filters, span } = state;
  let rows = [];
  let next = null;
  let turn = 0;
  const list = requestTable({
    caption: "Requests in the books", open, link, empty: "No request of this span matches.", isStored: true,
  });
  const line = h("span");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const more = h("button", { type: "button", hidden: true, on: { click: () => load(true) } }, "More");
  const again = h("button", { type: "button", class: "small", on: { click: () => load(false) } }, "Load again");
  const picker = spanPicker({ value: span, onChange: (value) => { span = value; onSpan(value); load(false); } });
  const element = h(
    "div", null, h("div", { class: "live-line" }, picker.element, again, line), problem, list.element, more
  );

  async function load(isNext) {
    turn += 1;
    const mine = turn;
    const { since_at, until_at } = spanOf(span);
    // An id is found wherever it is in time.
    const asked = {
      ...askedFilters(filters),
      limit: PAGE_ROWS,
      ...(filters.find ? {} : { since_at, until_at }),
      after: isNext ? next : null,
    };
    setText(line, "Looking…");
    try {
      const page = await get("/admin/usage/requests", asked);
      if (mine !== turn) return;
      const found = page.requests.map(lineOf);
      rows = isNext ? rows.concat(found) : found;
      next = page.next;
      problem.hidden = true;
      list.update(rows);
      const span = `${shortDateTime(since_at)} to ${shortDateTime(until_at)}`;
      setText(line, `${count(rows.length)} shown, the newest first${next ? "; more below" : ""} · ${span}`);
    } catch (error) {
      if (mine !== turn) return;
      problem.hidden = false;
      setText(problem, error.message);
      setText(line, "");
    }
    more.hidden = next === null;
  }

  load(false);
  return {
    element,
    filter(other) {
      filters = other;
      load(false);
    },
    end: () => { turn += 1; },
  };
}
