// Links between pools, and from stores and hosts: how fast they were found to be, and which are left alone.

import { h, mount } from "../lib/dom.js";
import { bytes, clock, count, ms, percent } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { STILL } from "./kv_words.js";
import { panel } from "./panel.js";

export function linksPanel() {
  const part = panel({ title: "Links", isWide: true });
  const list = table({
    caption: "Links that KV moves over", columns: columns(), rows: [], rowKey: (row) => `${row.source} > ${row.target}`,
  });
  const note = h("p", { class: "panel-note" });

  function draw(page) {
    part.say("since the workers began");
    if (!page.is_moving) {
      part.empty(...STILL);
      return;
    }
    if (!page.links.length) {
      part.empty("Nothing was moved yet.", "A link is listed with its first transfer.");
      return;
    }
    list.update(page.links);
    note.hidden = page.links_left_out === 0;
    mount(note, page.links_left_out > 0 && `${count(page.links_left_out)} links that were used less are left out.`);
    if (part.body.firstChild !== list.element) mount(part.body, list.element, note);
  }

  return { element: part.element, show: (fetch) => part.load(fetch, draw) };
}

function columns() {
  return [
    { key: "source", title: "From", sort: true },
    { key: "target", title: "To", sort: true },
    figureColumn("bytes_per_s", "Speed", (n) => `${bytes(n)}/s`),
    figureColumn("latency_ms", "Latency", ms, { hint: "of any transfer, however short" }),
    figureColumn("transfers", "Transfers", count),
    figureColumn("timed", "Timed", count, { hint: "those that arrived, where it was seen when; speed and latency are theirs" }),
    figureColumn("failed", "Failed", count),
    figureColumn("failing_share", "May fail", percent, { hint: "the chance that the next one does, as routing counts it" }),
    { key: "state", title: "State", stamp: (row) => `${row.paused_until_at} ${row.timed}`, render: (row) => state(row) },
  ];
}

function state(row) {
  if (row.paused_until_at !== null) return badge(`paused until ${clock(row.paused_until_at)}`, "warn");
  return row.timed ? badge("timed", "good") : badge("as assumed");
}
