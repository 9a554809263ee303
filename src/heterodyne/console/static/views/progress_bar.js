// How far something is, as a bar with its figure. Unlike a meter it is no warning to be nearly full.

import { h } from "../lib/dom.js";
import { percent } from "../lib/format.js";

// progressBar(0.42, "Requests answered") -> Node; a share that is not known has an empty bar and a dash
export function progressBar(share, label) {
  const isKnown = share !== null && share !== undefined;
  const hundredths = Math.round(Math.max(0, Math.min(1, share ?? 0)) * 1000) / 10;
  const fill = h("span", { class: "meter-fill" });
  fill.style.setProperty("width", `${hundredths}%`);
  return h("span", {
    class: "meter", role: "progressbar", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "100",
    "aria-valuenow": isKnown ? String(Math.floor(hundredths)) : null, "aria-valuetext": percent(share),
  }, h("span", { class: "meter-bar" }, fill), h("span", { class: "meter-text" }, percent(share)));
}
