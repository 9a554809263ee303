// One version of a model: its artifacts, what runs on which hardware, what can be built, and what is best where.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { bytes, dateTime, ms, NONE } from "../lib/format.js";
import { hashOf } from "../lib/route.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { digestWords, loadWords, PARITY } from "./model_words.js";
import { panel } from "./panel.js";

// modelPanel(onClose) -> { element, show(name), focus() }
export function modelPanel(onClose) {
  const heading = h("h2", { tabindex: "-1" });
  const close = h("button", { type: "button", class: "small", on: { click: onClose } }, "Close");
  const facts = h("dl", { class: "facts" });
  const artifacts = panel({ title: "Artifacts", isWide: true });
  const affinity = panel({
    title: "What runs where", isWide: true,
    hint: "By kind of hardware and format: the precisions that are there, and those that can be built of them.",
  });
  const best = panel({
    title: "Best on each chip", isWide: true,
    hint: "A token alone takes as long as its weights to be read: the fewest bytes that a chip computes with are best.",
  });
  const leave = (event) => event.key === "Escape" && onClose();
  const element = h("section", { class: "opened", hidden: true, "aria-label": "One version", on: { keydown: leave } },
    h("div", { class: "opened-head" }, heading, close), facts,
    h("div", { class: "panels" }, artifacts.element, affinity.element, best.element));
  const artifactTable = table({
    caption: "Artifacts", columns: ARTIFACTS, rows: [], rowKey: (row) => row.digest, empty: "It has no artifacts.",
  });
  const affinityTable = table({
    caption: "What runs where", columns: AFFINITY, rows: [], rowKey: (row) => `${row.hardware} ${row.format}`,
  });
  const bestTable = table({ caption: "Best on each chip", columns: BEST, rows: [], rowKey: (row) => row.chip });
  mount(artifacts.body, artifactTable.element);
  mount(affinity.body, affinityTable.element);
  mount(best.body, bestTable.element);

  function show(name) {
    element.toggleAttribute("hidden", !name);
    if (!name) return;
    mount(heading, name);
    artifacts.load(() => get(`/admin/registry/${encodeURIComponent(name)}`), ({ shown, versions }) => {
      mount(heading, shown.summary.name);
      mount(facts, factsOf(shown, versions));
      artifacts.say(`${bytes(shown.summary.size_bytes)} together`);
      artifactTable.update(shown.summary.artifacts);
      affinityTable.update(shown.affinity);
      bestTable.update(shown.best);
    });
  }

  return { element, show, focus: () => heading.focus() };
}

function factsOf(shown, versions) {
  const { summary, card } = shown;
  const others = versions.filter((name) => name !== summary.name);
  const found = [
    ["Source", summary.source],
    ["Licence", summary.licence ?? NONE],
    ["Imported", dateTime(summary.created_at)],
    ...Object.entries(card).map(([name, words]) => [name.replaceAll("_", " "), words]),
  ];
  if (others.length) {
    const links = others.flatMap((name) => [h("a", { href: hashOf("models", { name }) }, name), " "]);
    found.push(["Other versions", links]);
  }
  return found.map(([name, words]) => h("div", null, h("dt", null, name), h("dd", null, words)));
}

const ARTIFACTS = [
  {
    key: "format", title: "Artifact", stamp: (row) => row.digest,
    render: (row) => h("span", { class: "strong" }, `${row.format} ${row.precision}`),
  },
  {
    key: "hardware", title: "Hardware", stamp: (row) => row.hardware,
    render: (row) => h("span", { class: "whole" }, row.hardware),
  },
  { key: "size_bytes", title: "Size", numeric: true, render: (row) => bytes(row.size_bytes) },
  { key: "builder", title: "Made by" },
  {
    key: "digest", title: "Digest", stamp: (row) => row.digest,
    render: (row) => h("code", { class: "whole", title: row.digest }, digestWords(row.digest)),
  },
  {
    key: "parity", title: "Parity", stamp: (row) => `${row.parity} ${row.parity_why}`,
    render: (row) => [badge(PARITY[row.parity].words, PARITY[row.parity].tone), row.parity_why && ` ${row.parity_why}`],
  },
  {
    key: "signed_by", title: "Signed by", hint: "trusted keys whose signatures hold",
    render: (row) => row.signed_by.join(", ") || (row.signatures ? "no trusted key" : NONE),
  },
  { key: "pools", title: "Pools", hint: "that load it", render: (row) => row.pools.join(", ") || NONE },
  { key: "loads", title: "Loaded from", render: (row) => row.loads.map(loadWords).join("; ") || NONE },
];

const AFFINITY = [
  { key: "hardware", title: "Hardware" },
  { key: "format", title: "Format" },
  { key: "engines", title: "Engines", render: (row) => row.engines.join(", ") },
  { key: "there", title: "There", render: (row) => row.there.join(", ") || NONE },
  {
    key: "buildable", title: "Can be built", stamp: (row) => row.commands.join("\n"),
    render: (row) => (row.buildable.length ? builds(row) : NONE),
  },
];

function builds(row) {
  return h("details", { class: "builds" }, h("summary", null, row.buildable.join(", ")),
    h("ul", null, row.commands.map((command) => h("li", null, h("code", null, command)))));
}

const BEST = [
  { key: "chip", title: "Chip" },
  { key: "best", title: "Best", render: (row) => row.best ?? NONE },
  { key: "token_ms", title: "A token", numeric: true, render: (row) => (row.best ? ms(row.token_ms) : NONE) },
  { key: "why", title: "Why" },
];
