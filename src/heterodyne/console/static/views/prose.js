// A sentence whose `words in backticks` are shown as what is typed.

import { h } from "../lib/dom.js";

// prose("Set `hardware`.") -> ["Set ", <code>hardware</code>, "."]
export function prose(sentence) {
  if (typeof sentence !== "string") return sentence;
  return sentence.split("`").map((part, index) => (index % 2 ? h("code", null, part) : part));
}
