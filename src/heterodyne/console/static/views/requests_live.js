// Requests as they finish, newest first; it can be held still to be read.

import { get } from "../lib/api.js";
import { h, setText } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { fits } from "./request_filters.js";
import { lineOf, requestTable } from "./request_table.js";

const ROWS_MAX = 80; // more than anybody reads while they move
const SEED_ROWS = 100;

// -> { element, filter(filters), end() }
export function liveRequests(live, filters, { open, link }) {
  let held = null; // the list as it was when somebody paused it
  let leftOut = 0;
  const list = requestTable({
    caption: "Requests that finished lately", open, link, empty: "No request has finished lately that matches.",
    rowsMax: ROWS_MAX,
  });
  const line = h("span");
  const pause = h(
    "button", { type: "button", "aria-pressed": "false", class: "small", on: { click: toggle } }, "Pause"
  );
  const element = h("div", null, h("div", { class: "live-line" }, pause, line), list.element);

  function toggle() {
    held = held ? null : live.recent;
    pause.setAttribute("aria-pressed", String(held !== null));
    setText(pause, held ? "Go on" : "Pause");
    draw();
  }

  function draw() {
    const from = held ?? live.recent;
    const matching = from.filter((row) => fits(row, filters));
    list.update(matching);
    const words = [`${count(Math.min(matching.length, ROWS_MAX))} shown`];
    if (matching.length < from.length) words.push(`${count(matching.length)} of ${count(from.length)} match`);
    if (held) words.push(`paused, ${count(newer(held))} more since`);
    if (leftOut) words.push(`${count(leftOut)} of the last second left out`);
    setText(line, words.join(" · "));
  }

  function newer(list) {
    const at = live.recent.indexOf(list[0]);
    return at < 0 ? live.recent.length : at;
  }

  const end = live.subscribe((page) => {
    leftOut = page.left_out;
    draw();
  });
  draw();
  if (live.recent.length < SEED_ROWS) seed();

  async function seed() {
    try {
      live.seed((await get("/admin/usage/requests", { limit: SEED_ROWS })).requests.map(lineOf));
      draw();
    } catch (error) {
      console.warn(error); // those that finish from now on are shown anyway
    }
  }

  return {
    element,
    filter(next) {
      filters = next;
      draw();
    },
    end,
  };
}
