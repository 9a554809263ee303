// A named choice among a few words, whose words may change.

import { h, mount } from "../lib/dom.js";
import { field } from "../lib/widgets.js";

// choice({ label: "Group by", options: { pool: "pool" }, value: "pool", onChange }) -> { element, set(options, value) }
export function choice({ label, options, value, onChange }) {
  const made = field({ label, name: label.toLowerCase().replaceAll(" ", "-"), type: "select", onChange });
  const set = (next, chosen) => {
    mount(made.input, Object.entries(next).map(([name, words]) => h("option", { value: name }, words)));
    made.value = chosen in next ? chosen : Object.keys(next)[0];
  };
  set(options, value);
  return { element: made.element, set };
}
