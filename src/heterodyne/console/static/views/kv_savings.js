// What bringing KV has saved or lost, by where it came from, and how far that is checked.

import { h, mount } from "../lib/dom.js";
import { bytes, count, percent, seconds, tokens, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { figureColumn } from "./figure_column.js";
import { ORIGINS, STILL } from "./kv_words.js";
import { panel } from "./panel.js";

export function savingsPanel() {
  const part = panel({ title: "Saved or lost", isWide: true });
  const list = table({ caption: "What bringing KV was worth", columns: columns(), rows: [], rowKey: (row) => row.origin });
  const verdict = h("p", { class: "verdict" });
  const note = h("p", { class: "panel-note" }, "Against what computing the prompt was foretold to take. One request in a "
    + "hundred is withheld and computes all the same: from 20 on, what those took corrects the forecast.");

  const ahead = h("p", { class: "panel-note" });

  function draw(page) {
    part.say("since the workers began");
    mount(ahead, aheadWords(page.prefetches));
    if (!page.is_moving) {
      part.empty(...STILL);
      return;
    }
    if (!page.origins.length) {
      part.empty("Nothing was brought yet.", "`heterodyne explain` says for one prompt whether it would be, and why.");
      return;
    }
    list.update(page.origins);
    const saved_s = page.origins.reduce((sum, row) => sum + row.saved_s, 0);
    const saved_usd = page.origins.reduce((sum, row) => sum + row.saved_usd, 0);
    verdict.className = `verdict ${saved_s < 0 ? "verdict-warn" : "verdict-good"}`;
    mount(verdict, `Together ${seconds(Math.abs(saved_s))} of waiting for first tokens ${saved_s < 0 ? "lost" : "saved"}, `
      + `and ${usd(Math.abs(saved_usd))} ${saved_usd < 0 ? "spent on it" : "saved"}.`);
    if (part.body.firstChild !== verdict) mount(part.body, verdict, list.element, ahead, note);
  }

  return { element: part.element, show: (fetch) => part.load(fetch, draw) };
}

// Nothing, where no pool has it or none was tried yet.
function aheadWords(seen) {
  if (!seen || !(seen.taken + seen.wasted + seen.cancelled + seen.failed)) return "";
  return `Ahead of next turns: ${count(seen.taken)} brought and used, ${count(seen.wasted)} brought for nothing, `
    + `${count(seen.cancelled)} too late, ${count(seen.failed)} failed.`;
}

function columns() {
  return [
    { key: "origin", title: "KV", sort: true, render: (row) => ORIGINS[row.origin].words },
    figureColumn("arrived", "Brought", count),
    figureColumn("failed", "Failed", count, { hint: "computed after all" }),
    figureColumn("tokens", "Tokens", tokens),
    figureColumn("byte_count", "Moved", bytes),
    figureColumn("saved_s", "Time saved", signedSeconds),
    figureColumn("saved_usd", "Dollars saved", usd, { hint: "as forecast" }),
    figureColumn("withheld", "Withheld", count),
    figureColumn("off_ratio", "Forecast checked", (ratio) => (ratio === null ? "too few" : `took ${percent(ratio)}`), {
      hint: "what computing took of those withheld, as a share of what was foretold",
    }),
  ];
}

function signedSeconds(amount) {
  const size = Math.abs(amount);
  const words = size < 10 ? `${size.toFixed(2)} s` : seconds(size);
  return amount < 0 ? `−${words}` : words;
}
