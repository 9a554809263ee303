// A whole as one bar of its parts, with the names and figures of the parts below it.

import { h } from "../lib/dom.js";

// shareBar({ label, parts: [{ name, value, tone, words }], whole, mark }) -> Node
// `whole` is what the bar's length stands for; `mark` a value with a line across, where the parts go beyond it.
export function shareBar({ label, parts, whole, mark }) {
  const shown = parts.filter((part) => part.value > 0);
  const said = parts.map((part) => `${part.name} ${part.words}`).join(", ");
  const bar = h("div", { class: "share-bar", role: "img", "aria-label": `${label}: ${said}` },
    shown.map((part) => {
      const piece = h("span", { class: `share-part tone-${part.tone}`, title: `${part.name} ${part.words}` });
      piece.style.setProperty("width", `${(part.value / whole) * 100}%`);
      return piece;
    }));
  if (mark && mark < whole) {
    const line = h("span", { class: "share-mark" });
    line.style.setProperty("left", `${(mark / whole) * 100}%`);
    bar.append(line);
  }
  const legend = h("ul", { class: "share-legend" }, parts.map((part) =>
    h("li", null,
      h("span", { class: `swatch tone-${part.tone}` }), `${part.name} `, h("span", { class: "strong" }, part.words))));
  return h("div", { class: "share" }, bar, legend);
}
