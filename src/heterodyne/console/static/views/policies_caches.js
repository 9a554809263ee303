// Caches: what was given again and what that saved; of semantic ones, how often they were wrong, and may be.

import { h, mount } from "../lib/dom.js";
import { bytes, count, percent, seconds, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge, meter } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { panel } from "./panel.js";
import { notSet } from "./policy_words.js";
import { shareBar } from "./share_bar.js";

export function cachesPanel() {
  const part = panel({ title: "Caches", isWide: true });
  const list = table({ caption: "Caches", columns: columnsOf(), rows: [], rowKey: (row) => row.cache });
  const stock = h("p", { class: "panel-note" });
  const errors = h("div", { class: "evidence" });

  function draw(page) {
    if (!page.caches.length) {
      part.empty("No answers are kept.", "Name a policy in the settings, as `[caches.kept]`.");
      return;
    }
    list.update(page.caches);
    mount(stock, stockWords(page));
    mount(errors, page.caches.filter((row) => row.semantic).map(semanticRow));
    if (part.body.firstChild !== list.element) mount(part.body, list.element, stock, errors);
  }

  return { element: part.element, show: (sources) => part.load(() => sources.page("/admin/caches"), draw) };
}

function columnsOf() {
  return [
    {
      key: "cache", title: "Cache", sort: true, stamp: (row) => `${row.cache} ${row.is_set}`,
      render: (row) => h("div", null, h("span", { class: "strong" }, row.cache), notSet(row)),
    },
    {
      key: "share", title: "Given again", stamp: (row) => JSON.stringify(row.figures), render: (row) => shares(row),
    },
    figureColumn("rate", "Hit rate", percent, of((row) => row.figures.hit_share, percent)),
    figureColumn("saved", "Saved", usd, of((row) => row.figures.saved_usd, usd)),
    figureColumn("followed", "Waited", count, {
      ...of((row) => row.figures.followed, count), hint: "for the answer to the same request, which was on its way",
    }),
    figureColumn("minute", "Last minute", percent, of((row) => row.last_minute.hit_share, percent)),
    figureColumn("ttl_s", "Kept for", seconds),
  ];
}

function of(value, write) {
  return { sort: value, render: (row) => write(value(row)) };
}

function shares(row) {
  const { hits, similar, misses } = row.figures;
  const whole = hits + similar + misses;
  if (!whole) return "nothing was looked up";
  const parts = [
    { name: "hit", value: hits, tone: 1, words: count(hits) },
    ...(row.semantic || similar ? [{ name: "similar", value: similar, tone: 2, words: count(similar) }] : []),
    { name: "miss", value: misses, tone: "free", words: count(misses) },
  ];
  return shareBar({ label: `Requests of ${row.cache}`, whole, parts });
}

function stockWords(page) {
  const full = page.size_bytes_max ? page.size_bytes / page.size_bytes_max : null;
  return [
    `${count(page.entries)} answers in memory, ${bytes(page.size_bytes)} of ${bytes(page.size_bytes_max)} `,
    meter(full, "Memory for kept answers that is taken"),
    page.prompts > 0 && ` · ${count(page.prompts)} prompts`,
    page.is_shared && " · shared through Redis or Valkey",
    page.refused > 0 && ` · ${count(page.refused)} entries refused, which were cut or changed`,
  ];
}

function semanticRow(row) {
  const one = row.semantic;
  const measured = one.account_wrong_share_max;
  const isWithin = measured !== null && measured <= one.error_share_max;
  const limit = percent(one.error_share_max);
  return h("div", { class: "evidence-row" },
    h("h3", null, row.cache),
    badge(one.mode === "serve" ? "serves what means the same" : "shadow: measures, serves nothing",
      one.mode === "serve" ? "accent" : null),
    h("p", { class: "evidence-words" }, errorWords(one)),
    h("p", { class: ["evidence-counts", "verdict", measured === null ? "verdict-unknown"
      : isWithin ? "verdict-good" : "verdict-warn"] },
    measured === null ? `No request has asked yet; the limit is ${limit} of all that do.`
      : `Wrong answers: at most ${percent(measured)} of ${count(one.account_requests)} requests since the workers `
        + `began, with 95% confidence; the limit is ${limit}.`));
}

function errorWords(one) {
  const served = one.mode === "serve" ? `${count(one.served)} served, ${count(one.would_serve)} more asked all the same`
    : `${count(one.would_serve)} would have been served`;
  const compared = one.compared ? `${count(one.wrong)} of ${count(one.compared)} compared were wrong` : "none compared";
  return `${count(one.decided)} decided, ${served}; ${compared}`;
}
