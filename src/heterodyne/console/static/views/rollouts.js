// Rollouts: the latest of every model, and for one what it rests on and what may be done about it.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { clock, count, dateTime } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { hashState } from "./hash_state.js";
import { emptyState, panel } from "./panel.js";
import { repeat } from "./repeat.js";
import { openStart } from "./rollout_actions.js";
import { rolloutPanel } from "./rollout_panel.js";
import { rowsOf, shareWords, sidesWords, STATUS } from "./rollout_words.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 3;
const DEFAULTS = { model: "", rollout: "", sort: "model" };

export const view = {
  id: "rollouts",
  title: "Rollouts",
  key: "o",
  render(root, context) {
    const state = hashState("rollouts", DEFAULTS, context.params);
    const part = panel({ title: "Latest of each model", isWide: true });
    const grid = table({
      caption: "Latest of each model", columns: COLUMNS, rows: [], rowKey: (row) => row.model,
      onOpen: (row) => open(row.model), sortBy: state.values.sort, onSort: (sort) => state.set({ sort }),
      rowClass: (row) => (row.model === state.values.model ? "is-open" : ""),
    });
    const opened = rolloutPanel({
      canChange: context.canChange, onClose: () => open(""), onChanged: refresh, onOpen: (row) => show(row.id),
    });
    const start = context.canChange && h("button", {
      type: "button", class: "primary", on: { click: () => openStart(context.live.latest, open) },
    }, "Start a rollout");
    let latest = [];
    let history = [];

    function draw() {
      part.say(`as of ${clock(Date.now() / 1000)}`);
      grid.update(latest);
      mount(part.body, latest.length ? grid.element : emptyState("There was no rollout yet.",
        "Give the candidate a pool of the same model, then start one, here or with `heterodyne rollout start`."));
      opened.show(state.values.model, history, state.values.rollout);
    }

    function open(model) {
      state.set({ model, rollout: "" });
      history = latest.filter((row) => row.model === model);
      draw();
      if (model) opened.focus();
      else grid.focus();
      refresh();
    }

    function show(rollout) {
      state.set({ rollout });
      draw();
      opened.focus();
    }

    function refresh() {
      const { model } = state.values;
      return part.load(
        () => Promise.all([get("/admin/rollouts"), model ? get("/admin/rollouts", { model }) : null]),
        ([page, one]) => {
          latest = rowsOf(page);
          if (model === state.values.model) history = one ? rowsOf(one) : [];
          draw();
        },
      );
    }

    mount(root, viewHead("Rollouts", ...(start ? [start] : [])),
      !context.canChange && h("p", { class: "hint" }, "You may look and not change: rollouts are for operators."),
      h("div", { class: "panels" }, opened.element, part.element));
    refresh();
    return repeat(REFRESH_S, refresh);
  },
};

const COLUMNS = [
  { key: "model", title: "Model", sort: true, stamp: (row) => row.model,
    render: (row) => h("span", { class: "strong" }, row.model) },
  { key: "sides", title: "Baseline → candidate", render: sidesWords },
  {
    key: "status", title: "Status", sort: true, stamp: (row) => row.status,
    render: (row) => badge(STATUS[row.status].words, STATUS[row.status].tone),
  },
  { key: "stage", title: "Stage", render: (row) => row.standing.stage },
  figureColumn("share", "Share", shareWords, {
    hint: "of conversations that begin now", sort: (row) => row.standing.share,
    render: (row) => shareWords(row.standing.share),
  }),
  figureColumn("requests", "Requests", count, {
    hint: "of users, that were seen of the candidate", sort: requestsOf, render: (row) => count(requestsOf(row)),
  }),
  figureColumn("began_at", "Begun", dateTime),
];

function requestsOf(row) {
  return row.candidate_evidence.requests;
}
