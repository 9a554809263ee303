// Tenants: every project with its limits, its use today, what was refused in the last hour, and what waits.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { clock, count, NONE, tokens, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge, field, meter } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { hashState } from "./hash_state.js";
import { emptyState, panel } from "./panel.js";
import { repeat } from "./repeat.js";
import { limitWords, useOf } from "./tenant_limits.js";
import { tenantPanel } from "./tenant_panel.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 5;
const ROWS_MAX = 200;
const TYPING_S = 0.3;
const DEFAULTS = { search: "", project: "", sort: "-usd" };

export const view = {
  id: "tenants",
  title: "Tenants",
  key: "t",
  render(root, context) {
    const state = hashState("tenants", DEFAULTS, context.params);
    const part = panel({ title: "Projects", isWide: true });
    const note = h("p", { class: "panel-note" });
    const grid = table({
      caption: "Projects", columns: COLUMNS, rows: [], rowKey: (row) => row.project, onOpen: open,
      sortBy: state.values.sort, onSort: (sort) => state.set({ sort }),
      rowClass: (row) => (row.project === state.values.project ? "is-open" : ""),
    });
    const opened = tenantPanel(() => open(null));
    const search = field({
      label: "Search", name: "search", type: "search", value: state.values.search,
      placeholder: "acme/search, gold, rate_limit_exceeded…",
      onInput: look,
    });
    search.input.addEventListener("search", () => look(search.value)); // emptied by Esc, which is no input
    let page = null;
    let soon = 0;

    function look(said) {
      if (said === state.values.search) return;
      state.set({ search: said });
      draw();
      refreshSoon();
    }

    function draw() {
      if (!page) return;
      const now = clock(Date.now() / 1000);
      part.say(`Today: UTC day ${page.day}. Refused: the last hour. Queued and limits: now, ${now}.`);
      const rows = page.tenants.filter((row) => matches(row, state.values.search));
      grid.update(rows);
      mount(part.body, rows.length ? grid.element : nobody(page, state.values.search), note);
      mount(note, countWords(page, rows.length));
      const row = page.tenants.find((one) => one.project === state.values.project);
      opened.show(state.values.project, row ?? null, page.day);
    }

    function open(row) {
      state.set({ project: row?.project ?? "" });
      draw();
      if (row) opened.focus();
      else grid.focus();
    }

    const refresh = () => part.load(() => tenantsOf([state.values.search, state.values.project]), (found) => {
      page = found;
      draw();
    });
    function refreshSoon() {
      clearTimeout(soon);
      soon = setTimeout(refresh, TYPING_S * 1000);
    }
    mount(root, viewHead("Tenants", search.element), h("div", { class: "panels" }, opened.element, part.element));
    refresh();
    const stop = repeat(REFRESH_S, refresh);
    return () => {
      stop();
      clearTimeout(soon);
    };
  },
};

// The dearest projects, and where there are more, also those whose names begin with what is looked for.
async function tenantsOf(names) {
  const page = await get("/admin/tenants", { limit: ROWS_MAX });
  if (!page.is_cut) return page;
  const wanted = names.filter(Boolean);
  const more = await Promise.all(wanted.map((search) => get("/admin/tenants", { limit: ROWS_MAX, search })));
  const rows = new Map([page, ...more].flatMap((one) => one.tenants).map((row) => [row.project, row]));
  return { ...page, tenants: [...rows.values()] };
}

function countWords(page, shown) {
  const cut = page.is_cut ? " The dearest of today are here; the others are found by how their names begin." : "";
  return `${count(shown)} of ${count(page.projects)} projects.${cut}`;
}

const COLUMNS = [
  {
    key: "project", title: "Project", sort: true, stamp: (row) => `${row.project} ${row.is_disabled}`,
    render: (row) => [
      h("span", { class: "strong" }, row.project), row.is_disabled && " ", row.is_disabled && badge("disabled", "warn"),
    ],
  },
  { key: "tier", title: "Tier", sort: true },
  figureColumn("weight", "Weight", String),
  figureColumn("requests", "Requests", count, { hint: "today" }),
  figureColumn("errors", "Errors", count, { hint: "today" }),
  figureColumn("tokens", "Tokens", tokens, { hint: "today", sort: tokensOf, render: (row) => tokens(tokensOf(row)) }),
  figureColumn("usd", "Dollars", usd, { hint: "today" }),
  {
    key: "refused", title: "Refused", hint: "in the last hour, by reason", sort: refusals,
    stamp: (row) => JSON.stringify(row.refused), render: refusedCell,
  },
  figureColumn("queued", "Queued", count, { hint: "waiting now" }),
  {
    key: "limits", title: "Most used limit", sort: (row) => useOf(row.limits[0]),
    stamp: (row) => JSON.stringify(row.limits[0]) ?? "none", render: limitCell,
  },
];

function tokensOf(row) {
  return row.prompt_tokens + row.completion_tokens;
}

function refusals(row) {
  return Object.values(row.refused).reduce((sum, one) => sum + one, 0);
}

function refusedCell(row) {
  const reasons = Object.entries(row.refused).sort((a, b) => b[1] - a[1]);
  if (!reasons.length) return NONE;
  return h("span", { class: "reasons" }, reasons.map(([reason, times]) => badge(`${reason} ${count(times)}`, "warn")));
}

function limitCell(row) {
  const [limit] = row.limits;
  if (!limit) return "no limits";
  const words = limitWords(limit);
  return h("span", { class: "limit" },
    meter(useOf(limit), `${words} of ${limit.level}`), h("span", { class: "limit-name" }, words));
}

function matches(row, search) {
  const words = [row.project, row.tier, ...Object.keys(row.refused), row.is_disabled ? "disabled" : ""];
  const said = words.join(" ").toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => said.includes(word));
}

function nobody(page, search) {
  if (page.tenants.length) return emptyState(`No project matches "${search}".`, "Shorten the search.");
  const todo = "Make one: `heterodyne tenants create acme/search`, then a key: `heterodyne keys create acme/search`.";
  return emptyState("There are no projects yet.", todo);
}
