// What many prompts begin with: hashes alone, for prompts are never shown.

import { h, mount } from "../lib/dom.js";
import { count, tokens } from "../lib/format.js";
import { table } from "../lib/table.js";
import { figureColumn } from "./figure_column.js";
import { OFF } from "./kv_words.js";
import { panel } from "./panel.js";

const HOLDERS_SHOWN = 4;

export function prefixesPanel() {
  const part = panel({ title: "Hot prefixes", isWide: true });
  const list = table({
    caption: "What many prompts begin with", columns: columns(), rows: [], rowKey: (row) => `${row.model} ${row.hash}`,
  });

  function draw(page) {
    part.say("half counted after 10 min");
    if (!page.is_on) {
      part.empty(...OFF);
      return;
    }
    if (!page.prefixes.length) {
      part.empty("No two prompts began alike lately.", "Beginnings of 256 bytes and more are looked at.");
      return;
    }
    list.update(page.prefixes);
    if (part.body.firstChild !== list.element) mount(part.body, list.element);
  }

  return { element: part.element, show: (fetch) => part.load(fetch, draw) };
}

function columns() {
  return [
    {
      key: "hash", title: "Prefix", stamp: (row) => row.hash, hint: "a hash of its text and its tenant",
      render: (row) => h("code", null, row.hash),
    },
    { key: "model", title: "Model", sort: true },
    figureColumn("tokens", "Tokens", tokens),
    figureColumn("prompts", "Prompts lately", (n) => count(Math.round(n))),
    {
      key: "held_by", title: "Held by", stamp: (row) => row.held_by.join(" "), sort: (row) => row.held_by.length,
      render: (row) => h("span", { title: row.held_by.join(", ") }, holders(row.held_by)),
    },
  ];
}

function holders(names) {
  if (!names.length) return "nobody";
  const more = names.length - HOLDERS_SHOWN;
  return names.slice(0, HOLDERS_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
