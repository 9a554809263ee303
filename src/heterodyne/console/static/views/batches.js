// Batches: those of all projects that are not over with how far they are, and the latest that ended.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { clock } from "../lib/format.js";
import { table } from "../lib/table.js";
import { cancelCell } from "./batch_actions.js";
import { endedColumns, openColumns } from "./batch_columns.js";
import { hashState } from "./hash_state.js";
import { emptyState, panel } from "./panel.js";
import { repeat } from "./repeat.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 3;
const DEFAULTS = { sort: "", ended: "" };
const HINT = "Send one with `heterodyne batch submit requests.jsonl`, or as a client with `POST /v1/batches`.";

export const view = {
  id: "batches",
  title: "Batches",
  key: "b",
  render(root, context) {
    const state = hashState("batches", DEFAULTS, context.params);
    const running = panel({ title: "Not over", isWide: true });
    const over = panel({ title: "Ended lately", isWide: true });
    const columns = [...openColumns(), ...(context.canChange ? [cancelCell(() => refresh())] : [])];
    const open = table({
      caption: "Batches that are not over", columns, rows: [],
      sortBy: state.values.sort, onSort: (sort) => state.set({ sort }),
    });
    const ended = table({
      caption: "Batches that ended lately", columns: endedColumns(), rows: [],
      sortBy: state.values.ended, onSort: (sort) => state.set({ ended: sort }),
    });

    function draw(page) {
      running.say(`as of ${clock(Date.now() / 1000)}`);
      over.element.hidden = page.ended.length === 0;
      open.update(page.open);
      ended.update(page.ended);
      show(over.body, ended.element);
      if (page.open.length) show(running.body, open.element, page.is_cut && cutNote(page));
      else show(running.body, emptyState(page.ended.length ? "No batch is waiting or running." : "No batches.", HINT));
    }

    function refresh() {
      return running.load(() => get("/admin/batches"), draw);
    }

    over.element.hidden = true;
    mount(root, viewHead("Batches"),
      !context.canChange && h("p", { class: "hint" }, "You may look and not change: cancelling is for operators."),
      h("div", { class: "panels" }, running.element, over.element));
    refresh();
    return repeat(REFRESH_S, refresh);
  },
};

// A table stays where it is while it is shown: to take it out and put it back would take the focus from its rows.
function show(body, first, note) {
  if (body.firstChild === first && body.childElementCount === (note ? 2 : 1)) return;
  mount(body, first, note);
}

function cutNote(page) {
  return h("p", { class: "panel-note" }, `The ${page.open.length} oldest; there are more.`);
}
