// The map of tiers: what each pool and replica holds on its accelerators and hosts, and where its prompts' KV came from.

import { h, mount } from "../lib/dom.js";
import { bytes, count, percent, seconds, tokens } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge, meter } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { OFF, hitShare, mixBar, mixWhole } from "./kv_words.js";
import { panel } from "./panel.js";

export function tiersPanel() {
  const part = panel({ title: "Tiers", isWide: true });
  const pools = table({ caption: "Pools", columns: poolColumns(), rows: [], rowKey: (row) => row.pool });
  const replicas = table({
    caption: "Replicas", columns: replicaColumns(), rows: [], rowKey: (row) => row.id, sortBy: "-prompts",
  });
  const note = h("p", { class: "panel-note" });
  const single = h("details", { class: "kv-replicas" }, h("summary", null, "Replicas"), replicas.element);

  function draw(page) {
    part.say(`prompts of the last ${seconds(page.window_s)}${page.gateways > 1 ? `, ${page.gateways} gateways` : ""}`);
    if (!page.is_on) {
      part.empty(...OFF);
      return;
    }
    pools.update(page.pools);
    replicas.update(page.replicas.map((row) => ({ ...row, prompts: row.mix.prompts, hits: hitShare(row.mix) })));
    mount(single.firstChild, `${count(page.replicas.length)} replicas`,
      page.replicas_left_out > 0 && `, those with the most prompts; ${count(page.replicas_left_out)} more`);
    mount(note, mixWhole(page.mix) ? mixBar("Tokens of all prompts", page.mix)
      : "No prompt has been answered in that time.");
    if (part.body.firstChild !== note) mount(part.body, note, pools.element, single);
  }

  return { element: part.element, show: (fetch) => part.load(fetch, draw) };
}

function poolColumns() {
  return [
    {
      key: "pool", title: "Pool", sort: true, stamp: (row) => `${row.model} ${row.strategy} ${row.role} ${row.transfer}`,
      render: (row) => h("div", null, h("span", { class: "strong" }, row.pool), " ", badge(row.strategy),
        row.role !== "both" && [" ", badge(row.role, "accent")],
        h("span", { class: "batch-note" }, row.model, row.transfer && ` · exchanges by ${row.transfer}`)),
    },
    {
      key: "held", title: "On accelerators", stamp: (row) => `${row.held_tokens} ${row.held_tokens_max}`,
      render: (row) => held(row.held_tokens, row.held_tokens_max, row.held_bytes, `accelerators of ${row.pool}`),
    },
    {
      key: "host", title: "On hosts", stamp: (row) => `${row.host_bytes} ${row.host_bytes_max}`,
      render: (row) => onHost(row, `hosts of ${row.pool}`),
    },
    {
      key: "mix", title: "Prompts", stamp: (row) => JSON.stringify(row.mix),
      render: (row) => (mixWhole(row.mix) ? mixBar(`Tokens of prompts of ${row.pool}`, row.mix)
        : row.role === "prefill" ? "computed for others" : "none"),
    },
  ];
}

function replicaColumns() {
  return [
    { key: "id", title: "Replica", sort: true },
    { key: "pool", title: "Pool", sort: true },
    figureColumn("held_tokens", "Held", tokens, { hint: "tokens, as far as it is known what was sent there" }),
    figureColumn("held_bytes", "Held bytes", bytes),
    {
      ...figureColumn("share", "Of its memory", percent, { sort: (row) => shareOf(row) }),
      stamp: (row) => `${row.held_tokens} ${row.held_tokens_max}`,
      render: (row) => meter(shareOf(row), `KV memory of ${row.id}`),
    },
    figureColumn("engine_share", "In use", percent, { hint: "of that memory, as its engine says" }),
    figureColumn("host_bytes", "On its host", bytes),
    figureColumn("prompts", "Prompts", count),
    figureColumn("hits", "Not computed", percent, { hint: "the share of prompt tokens it held or was brought" }),
    figureColumn("trust", "Trust", percent, { hint: "how far what is said of it has come true" }),
  ];
}

function shareOf(row) {
  return row.held_tokens_max ? Math.min(1, row.held_tokens / row.held_tokens_max) : null;
}

function held(amount, most, size, where) {
  const words = most === null ? `${tokens(amount)} tokens` : `${tokens(amount)} of ${tokens(most)} tokens`;
  return h("div", null, most ? meter(Math.min(1, amount / most), `KV on ${where}`) : "capacity not known",
    h("span", { class: "batch-note" }, `${words}, ${bytes(size)}`));
}

function onHost(row, where) {
  if (!row.host_bytes_max) return "–";
  return h("div", null, meter(Math.min(1, row.host_bytes / row.host_bytes_max), `KV on ${where}`),
    h("span", { class: "batch-note" }, `${bytes(row.host_bytes)} of ${bytes(row.host_bytes_max)}`));
}
