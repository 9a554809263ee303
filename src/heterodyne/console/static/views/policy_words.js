// The words of guards, caches and cascades.

import { h } from "../lib/dom.js";

export const DOES = {
  flag: { words: "flags", tone: null },
  mask: { words: "masks", tone: "warn" },
  block: { words: "blocks", tone: "bad" },
};
export const DONE = {
  flag: { words: "flagged", tone: null },
  mask: { words: "masked", tone: "warn" },
  block: { words: "blocked", tone: "bad" },
};
export const LOOKS_AT = { input: "of what clients sent", output: "of what models answered" };

export function ruleWords(name) {
  return name.replaceAll("_", " ");
}

// What did something in the span and is not in the settings any more.
export function notSet(row) {
  return !row.is_set && h("span", { class: "batch-note" }, "not set any more");
}
