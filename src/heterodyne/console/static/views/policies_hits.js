// Single findings of policies: in which request, where, and what was done. Never the words.

import { h, mount } from "../lib/dom.js";
import { count, percent, shortDateTime } from "../lib/format.js";
import { hashOf } from "../lib/route.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { choice } from "./choice.js";
import { panel } from "./panel.js";
import { DONE, ruleWords } from "./policy_words.js";

const ACTIONS = { "": "anything", flag: "flagged", mask: "masked", block: "blocked" };
const BLOCKS_MAX = 12; // of a span, however long it is

// -> { element, show(sources), choose(policy) }; `refresh` is called when another filter is chosen
export function hitsPanel(state, refresh) {
  const known = new Set(state.values.policy ? [state.values.policy] : []);
  const ofPolicy = choice({
    label: "Policy", options: policies(known), value: state.values.policy, onChange: (policy) => set({ policy }),
  });
  const done = choice({
    label: "Done", options: ACTIONS, value: state.values.action, onChange: (action) => set({ action }),
  });
  const part = panel({ title: "Findings", isWide: true, tools: [ofPolicy.element, done.element] });
  const list = table({ caption: "Findings of policies", columns: columnsOf(), rows: [] });

  function set(changes) {
    state.set(changes);
    refresh();
  }
  function draw(page) {
    learn(page.hits.map((hit) => hit.verdict.policy));
    part.say(page.is_cut ? `the latest ${count(page.hits.length)}; there are more` : "");
    if (!page.hits.length) {
      part.empty("Nothing was found in this span.", "A finding is listed some seconds after its request.");
      return;
    }
    list.update(page.hits);
    if (part.body.firstChild !== list.element) mount(part.body, list.element);
  }
  function learn(names) {
    const before = known.size;
    for (const name of names) known.add(name);
    if (known.size !== before) ofPolicy.set(policies(known), state.values.policy);
  }

  return {
    element: part.element,
    show: (sources) => part.load(sources.hits, draw),
    choose(policy) {
      known.add(policy);
      ofPolicy.set(policies(known), policy);
    },
  };
}

function policies(known) {
  return { "": "every policy", ...Object.fromEntries([...known].sort().map((name) => [name, name])) };
}

function columnsOf() {
  return [
    { key: "at", title: "At", render: (row) => shortDateTime(row.at) },
    {
      key: "request", title: "Request", stamp: (row) => row.request,
      render: (row) => h("a", { href: hashOf("requests", { id: row.request }) }, row.request),
    },
    { key: "project", title: "Project" },
    { key: "model", title: "Model" },
    { key: "policy", title: "Policy", render: (row) => row.verdict.policy },
    { key: "rule", title: "Found", stamp: stampOf, render: (row) => found(row.verdict) },
    { key: "score", title: "Sure", numeric: true, render: (row) => percent(row.verdict.score ?? 1) },
    {
      key: "action", title: "Done", stamp: (row) => row.verdict.action,
      render: (row) => badge(DONE[row.verdict.action].words, DONE[row.verdict.action].tone),
    },
  ];
}

function stampOf(row) {
  return row.id;
}

// What is hidden is as long as the finding was, up to a bound.
function found({ rule, where, direction, start = 0, end = 0 }) {
  const long = Math.max(0, end - start);
  const place = where || (direction === "input" ? "the request" : "the answer");
  const span = long ? `, characters ${count(start)} to ${count(end)}` : "";
  return h("div", null, h("span", { class: "strong" }, ruleWords(rule)), " ",
    long > 0 && h("span", { class: "hidden-span", "aria-hidden": "true" }, "█".repeat(Math.min(BLOCKS_MAX, long))),
    h("span", { class: "batch-note" }, `in ${place}${span}`));
}
