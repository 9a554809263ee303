// Models whose pools grow and shrink by themselves: what is needed and carried, and of what is short why, and what would
// mend it. Nothing is shown where no pool does.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { rate } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { panel } from "./panel.js";
import { prose } from "./prose.js";

const UNIT = "/s";
const TONES = { mode: "warn", paused: "warn", gateway: "warn", "next-look": "accent" };
const HINT = "Figures are usual requests: those of the lengths that `requests_per_s` of the pool was said for. "
  + "`heterodyne scale explain` has the decisions.";

// -> { element, refresh() }
export function scalingPanel() {
  const part = panel({ title: "Growing and shrinking", isWide: true, hint: HINT });
  const list = table({ caption: "Growing and shrinking", columns: COLUMNS, rows: [], rowKey: (row) => row.model });
  part.element.hidden = true;

  function draw(page) {
    part.element.hidden = page.models.length === 0;
    part.say(page.mode === "act" ? "" : `mode ${page.mode}: decisions are only said`);
    list.update(page.models);
    if (part.body.firstChild !== list.element) mount(part.body, list.element);
  }

  return { element: part.element, refresh: () => part.load(() => get("/admin/scaling", { limit: 1 }), draw) };
}

const COLUMNS = [
  { key: "model", title: "Model" },
  { key: "needed", title: "Needed", numeric: true, render: (row) => rate(row.needed, UNIT) },
  { key: "carried", title: "Carried", numeric: true, render: (row) => rate(row.carried, UNIT) },
  { key: "most", title: "At most", numeric: true, render: (row) => rate(row.most, UNIT) },
  { key: "pools", title: "Replicas", stamp: (row) => poolWords(row).join(), render: (row) => poolWords(row).join(", ") },
  {
    key: "state", title: "State", stamp: (row) => `${row.is_paused} ${row.short?.cause}`, render: states,
  },
  {
    key: "short", title: "Short of", stamp: (row) => JSON.stringify(row.short),
    render: (row) => row.short && shortage(row.short),
  },
];

function states(row) {
  const found = [];
  if (row.short) found.push(badge(row.short.cause, TONES[row.short.cause] ?? "bad"));
  if (row.is_paused && row.short?.cause !== "paused") found.push(badge("paused", "warn"));
  return h("span", null, found.length ? found : badge("enough", "good"));
}

function shortage(short) {
  return h("div", null,
    h("p", null, `${rate(short.requests_per_s, UNIT)} are missing: `, prose(short.because)),
    short.mend && h("p", { class: "hint" }, prose(`To mend it: ${short.mend}.`)));
}

function poolWords(row) {
  return row.pools.map((pool) => {
    const coming = pool.warming ? `, ${pool.warming} starting` : "";
    const leaving = pool.draining ? `, ${pool.draining} draining` : "";
    return `${pool.pool} ${pool.ready} of ${pool.minimum} to ${pool.maximum}${coming}${leaving}`;
  });
}
