// What requests are filtered by: the same words for those that finish now and for those in the books.

import { h } from "../lib/dom.js";
import { field } from "../lib/widgets.js";

// The name in the address, the name in the API, and how a line that is here already is judged.
const FILTERS = [
  { name: "find", asks: "id", label: "Request id", type: "search", fits: (row, said) => row.id.includes(said) },
  { name: "project", label: "Project", fits: (row, said) => row.project === said },
  { name: "model", label: "Model", fits: (row, said) => row.model === said },
  { name: "pool", label: "Pool", fits: (row, said) => row.pool === said },
  { name: "replica", label: "Replica", fits: (row, said) => row.replica === said },
  { name: "tier", label: "Tier", fits: (row, said) => row.tier === said },
  { name: "class", label: "Class", fits: (row, said) => row.urgency === said },
  {
    name: "status",
    label: "Status",
    type: "number",
    min: 100,
    max: 599,
    fits: (row, said) => row.status === Number(said),
  },
  { name: "reason", label: "Reason of an error", fits: (row, said) => row.reason === said },
  {
    name: "slower_than_ms",
    label: "TTFT over, ms",
    type: "number",
    min: 0,
    step: "any",
    fits: (row, said) => row.ttft_ms !== null && row.ttft_ms > Number(said),
  },
  {
    name: "longer_than_ms",
    label: "Total over, ms",
    type: "number",
    min: 0,
    step: "any",
    fits: (row, said) => row.total_ms > Number(said),
  },
  {
    name: "promise",
    label: "Promise",
    options: [{ value: "", label: "any" }, "kept", "broken"],
    fits: (row, said) => row.promise === said,
  },
  { name: "errors", label: "Only errors", isBox: true, fits: (row) => row.reason !== "" },
  { name: "retried", label: "Only retried", isBox: true, fits: (row) => row.retries > 0 },
];
const TYPING_MS = 300;

// What the address says, without what it leaves out.
export function readFilters(params) {
  return Object.fromEntries(FILTERS.filter(({ name }) => params[name]).map(({ name }) => [name, params[name]]));
}

// For GET /admin/usage/requests.
export function askedFilters(filters) {
  return Object.fromEntries(
    FILTERS.filter(({ name }) => filters[name]).map(({ name, asks }) => [asks ?? name, filters[name]])
  );
}

export function fits(row, filters) {
  return FILTERS.every((filter) => !filters[filter.name] || filter.fits(row, filters[filter.name]));
}

// -> { element }; `onChange(filters)` comes when the typing pauses.
export function filterForm(filters, { pools, onChange }) {
  let timer = 0;
  const known = {
    model: [...new Set(pools.map((row) => row.model))],
    pool: pools.map((row) => row.pool),
    class: ["interactive", "batch"],
  };
  const parts = FILTERS.map((filter) => [filter, field({
    label: filter.label, name: filter.name,
    value: filter.isBox ? filters[filter.name] === "true" : filters[filter.name],
    isLabelHidden: filter.name === "find", placeholder: filter.name === "find" ? "Request id" : null,
    type: filter.isBox ? "checkbox" : filter.options ? "select" : filter.type ?? "text",
    options: filter.options, list: known[filter.name] && `known-${filter.name}`,
    ...(filter.min === undefined ? {} : { min: filter.min, max: filter.max, step: filter.step }),
    onInput: later, spellcheck: "false", autocomplete: "off",
  })]);

  function later() {
    clearTimeout(timer);
    timer = setTimeout(say, TYPING_MS);
  }
  function say() {
    clearTimeout(timer);
    const said = {};
    for (const [filter, part] of parts) {
      if (filter.isBox ? part.value : part.value.trim()) said[filter.name] = filter.isBox ? "true" : part.value.trim();
    }
    onChange(said);
  }
  function clear() {
    for (const [, part] of parts) part.value = "";
    say();
  }

  const isFolded = (filter) => !filter.isBox && filter.name !== "find";
  const isMore = FILTERS.some((filter) => isFolded(filter) && filters[filter.name]);
  const lists = Object.entries(known).map(
    ([name, values]) => h("datalist", { id: `known-${name}` }, values.map((value) => h("option", { value })))
  );
  const shown = (isWanted) => parts.filter(([filter]) => isWanted(filter)).map(([, part]) => part.element);
  const element = h("form", {
    role: "search", "aria-label": "Filter requests", on: { submit: (event) => { event.preventDefault(); say(); } },
  },
    h("div", { class: "filter-line" }, shown((filter) => !isFolded(filter)),
      h("button", { type: "button", class: "small quiet", on: { click: clear } }, "Clear filters")),
    h(
      "details",
      { class: "filter-fold", open: isMore },
      h("summary", null, "More filters"),
      h("div", { class: "filters" }, shown(isFolded)),
    ),
    lists);
  return { element };
}
