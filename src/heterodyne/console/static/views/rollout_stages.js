// The stages of a rollout as a line of steps, with the one it is in.

import { h } from "../lib/dom.js";

const WORDS = { passed: "passed", current: "now", stopped: "taken back here", ahead: "ahead" };
const SIGNS = { passed: "✓", current: "●", stopped: "✕", ahead: "○" };

// stageLine(standing) -> Node
export function stageLine(standing) {
  return h("ol", { class: "stages", "aria-label": "Stages" }, standing.stages.map((stage) =>
    h("li", {
      class: "stage", dataset: { mark: stage.mark },
      "aria-current": stage.mark === "current" ? "step" : null,
    },
      h("span", { class: "stage-sign", "aria-hidden": "true" }, SIGNS[stage.mark]),
      h("span", { class: "stage-name" }, stage.name),
      h("span", { class: "stage-mark" }, WORDS[stage.mark]))));
}
