// The head of a view: its name, and what it is set to.

import { h } from "../lib/dom.js";

export function viewHead(title, ...tools) {
  return [
    h("div", { class: "view-head" }, h("h1", null, title)),
    tools.length > 0 && h("div", { class: "toolbar", role: "group", "aria-label": "What is shown" }, tools),
  ];
}
