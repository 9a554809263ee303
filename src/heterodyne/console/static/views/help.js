// What the keys do.

import { h } from "../lib/dom.js";
import { dialog } from "../lib/widgets.js";

const DIGITS = 10; // the views beyond have a chord alone

const digit = (index) => String((index + 1) % DIGITS);

export function openHelp(views) {
  if (document.querySelector("dialog[open]")) return;
  const line = (keys, what) => [
    h("dt", null, keys.map((key, index) => [index > 0 && " ", key === "or" ? "or" : h("kbd", null, key)])),
    h("dd", null, what),
  ];
  dialog({
    title: "Keys",
    body: h("dl", { class: "keys" },
      views.map((view, index) => line(["g", view.key, ...(index < DIGITS ? ["or", digit(index)] : [])], view.title)),
      line(["/"], "Search"),
      line(["j", "k"], "Next and previous row of a table; the arrows do the same"),
      line(["Enter"], "Open the row"),
      line(["Esc"], "Close what is open"),
      line(["?"], "This list")),
  });
}
