// Models: the registry's versions with their artifacts, and for one what runs where and what can be built.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { bytes, clock, count, dateTime, NONE } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge, field } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { hashState } from "./hash_state.js";
import { modelPanel } from "./model_panel.js";
import { PARITY } from "./model_words.js";
import { emptyState, panel } from "./panel.js";
import { repeat } from "./repeat.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 30;
const TYPING_S = 0.3;
const DEFAULTS = { search: "", name: "", sort: "" };
const ADD = "Import one: `heterodyne models import hf:ORGANISATION/MODEL --name NAME`.";

export const view = {
  id: "models",
  title: "Models",
  key: "d",
  render(root, context) {
    const state = hashState("models", DEFAULTS, context.params);
    const part = panel({
      title: "Versions", isWide: true,
      hint: "Importing, building and signing are done with `heterodyne models`, where the files and the keys are.",
    });
    const note = h("p", { class: "panel-note" });
    const grid = table({
      caption: "Versions", columns: COLUMNS, rows: [], rowKey: (row) => row.name, onOpen: (row) => open(row.name),
      sortBy: state.values.sort || null, onSort: (sort) => state.set({ sort }),
      rowClass: (row) => (row.name === state.values.name ? "is-open" : ""),
    });
    const opened = modelPanel(() => open(""));
    const search = field({
      label: "Search", name: "search", type: "search", value: state.values.search, placeholder: "How its name begins",
      onInput: look,
    });
    search.input.addEventListener("search", () => look(search.value)); // emptied by Esc, which is no input
    let page = null;
    let soon = 0;

    function look(said) {
      if (said === state.values.search) return;
      state.set({ search: said });
      clearTimeout(soon);
      soon = setTimeout(refresh, TYPING_S * 1000);
    }

    function draw() {
      part.say(`as of ${clock(Date.now() / 1000)}`);
      grid.update(page.versions);
      mount(part.body, page.versions.length ? grid.element : nothing(state.values.search), note);
      const cut = page.is_cut ? " The others are found by how their names begin." : "";
      mount(note, `${count(page.versions.length)} of ${count(page.total)} in the registry.${cut}`);
    }

    function open(name) {
      state.set({ name });
      if (page) draw();
      opened.show(name);
      if (name) opened.focus();
      else grid.focus();
    }

    const refresh = () => part.load(() => get("/admin/registry", { search: state.values.search }), (found) => {
      page = found;
      draw();
    });
    mount(root, viewHead("Models", search.element), h("div", { class: "panels" }, opened.element, part.element));
    opened.show(state.values.name);
    refresh();
    const stop = repeat(REFRESH_S, refresh);
    return () => {
      stop();
      clearTimeout(soon);
    };
  },
};

function nothing(search) {
  if (search) return emptyState(`No model's name begins with "${search}".`, "Shorten the search.");
  return emptyState("The registry is empty.", ADD);
}

const COLUMNS = [
  {
    key: "name", title: "Version", sort: true, stamp: (row) => row.name,
    render: (row) => h("span", { class: "strong" }, row.name),
  },
  figureColumn("created_at", "Imported", dateTime),
  { key: "licence", title: "Licence", sort: true, render: (row) => row.licence ?? NONE },
  {
    key: "artifacts", title: "Artifacts", hint: "each with its parity", stamp: (row) => JSON.stringify(row.artifacts),
    render: (row) => (row.artifacts.length ? h("span", { class: "reasons" }, row.artifacts.map(artifactBadge)) : NONE),
  },
  figureColumn("size_bytes", "Size", bytes),
  { key: "pools", title: "Pools", hint: "that load one of them", render: poolWords },
  { key: "source", title: "Source" },
];

function artifactBadge(artifact) {
  const { words, tone } = PARITY[artifact.parity];
  return badge(`${artifact.format} ${artifact.precision}${tone ? `, ${words}` : ""}`, tone);
}

function poolWords(row) {
  return [...new Set(row.artifacts.flatMap((one) => one.pools))].join(", ") || NONE;
}
