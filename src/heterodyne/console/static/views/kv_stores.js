// Stores that replicas share: how full they should be, what is pinned, and files that slots were saved to.

import { h, mount } from "../lib/dom.js";
import { bytes, count } from "../lib/format.js";
import { table } from "../lib/table.js";
import { meter } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { panel } from "./panel.js";

export function storesPanel() {
  const part = panel({ title: "Stores", isWide: true });
  const list = table({ caption: "Stores of KV", columns: columns(), rows: [], rowKey: (row) => row.store });

  function draw(page) {
    if (!page.stores.length) {
      part.empty("No store is set.", "Name one as `[kv_stores.shared]`, and in `kv_store` of the pools that share it.");
      return;
    }
    list.update(page.stores);
    if (part.body.firstChild !== list.element) mount(part.body, list.element);
  }

  return { element: part.element, show: (fetch) => part.load(fetch, draw) };
}

function columns() {
  return [
    {
      key: "store", title: "Store", sort: true, stamp: (row) => row.medium,
      render: (row) => h("div", null, h("span", { class: "strong" }, row.store),
        h("span", { class: "batch-note" }, row.medium)),
    },
    {
      key: "held", title: "Should hold", stamp: (row) => `${row.held_bytes} ${row.capacity_bytes}`,
      hint: "what was computed by engines that write it, as long as it is believed to be there",
      render: (row) => h("div", null, meter(row.held_bytes / row.capacity_bytes, `KV in ${row.store}`),
        h("span", { class: "batch-note" }, `${bytes(row.held_bytes)} of ${bytes(row.capacity_bytes)}`)),
    },
    figureColumn("blocks", "Blocks", count),
    figureColumn("pinned_bytes", "Pinned", bytes, { hint: "what many sessions begin with" }),
    {
      ...figureColumn("files", "Slot files", count),
      render: (row) => (row.files ? `${count(row.files)}, ${bytes(row.file_bytes)}` : "–"),
    },
    { key: "pools", title: "Pools", render: (row) => row.pools.join(", ") || "none" },
  ];
}
