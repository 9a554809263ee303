// Cascades: whose answer was given and why, dollars and time beside the big model alone, and what is known of quality.

import { h, mount } from "../lib/dom.js";
import { count, ms, percent, usd } from "../lib/format.js";
import { badge } from "../lib/widgets.js";
import { panel } from "./panel.js";
import { ruleWords } from "./policy_words.js";
import { shareBar } from "./share_bar.js";

export function cascadesPanel() {
  const part = panel({ title: "Cascades", isWide: true });
  let drawn = "";

  function draw(page) {
    if (!page.cascades.length) {
      drawn = "";
      part.empty("No cascades are set.", "`heterodyne cascade fit` learns one from rows; `[cascades.NAME]` serves it.");
      return;
    }
    const stamp = JSON.stringify(page.cascades);
    if (stamp === drawn) return;
    drawn = stamp;
    mount(part.body, page.cascades.map(cascadeRow));
  }

  return { element: part.element, show: (sources) => part.load(() => sources.page("/admin/cascades"), draw) };
}

function cascadeRow(row) {
  const one = row.figures;
  return h("section", { class: "model-room", "aria-label": `Cascade ${row.cascade}` },
    h("h3", null, row.cascade, " ", !row.is_set && badge("not set any more", "warn"),
      row.cheap && h("span", { class: "panel-window" }, ` ${row.cheap}, then ${row.big}`)),
    row.problem && h("p", { class: "verdict verdict-bad" }, row.problem),
    one.requests ? shares(row) : h("p", { class: "hint" }, "No request asked for it in this span."),
    h("dl", { class: "room-figures" }, figures(row).map(([name, value, hint]) =>
      h("div", { title: hint }, h("dt", null, name), h("dd", null, value)))),
    h("p", { class: ["verdict", !row.figures.audited && "verdict-unknown"] }, qualityWords(row)),
    row.reasons.length > 0 && h("p", { class: "panel-note" }, "Why: ",
      row.reasons.map((why) => `${why.model}, ${ruleWords(why.reason)} ${count(why.requests)}`).join(" · ")));
}

function shares(row) {
  const one = row.figures;
  const parts = [
    ["cheap, judged and kept", one.kept, 1],
    ["cheap by the prompt", one.cheap_by_prompt, 3],
    ["escalated", one.escalated, 2],
    ["big by the prompt", one.big_by_prompt, "free"],
  ].filter(([, value]) => value).map(([name, value, tone]) => ({ name, value, tone, words: count(value) }));
  return shareBar({ label: `Requests of ${row.cascade}`, whole: one.requests, parts });
}

function figures(row) {
  const { figures: one, last_minute: minute } = row;
  const cheap = minute.kept + minute.cheap_by_prompt;
  return [
    ["Last minute", `${count(cheap)} of ${count(minute.requests)} cheap`, "answers of the cheap model"],
    ["Saved", usd(one.saved_usd), "what the big model would have cost, as predicted, less what was tried and audited"],
    ["Cost", one.cost_share === null ? "–" : `${percent(one.cost_share)} of the big model alone`,
      `tried ${usd(one.tried_usd)}, big ${usd(one.big_usd)}, audits ${usd(one.audited_usd)}`],
    ["Mean time", `${ms(one.answered_ms)}, big alone ${ms(one.big_ms)}`, "until an answer was complete"],
  ];
}

// Answers that differ need not be worse, so what is measured is no verdict.
function qualityWords(row) {
  const bound = row.loss_share_max === null ? "" : `By its fit at most ${percent(row.loss_share_max)} of the quality is lost`
    + `, ${percent(row.confidence)} sure, for prompts like those it was fitted to. `;
  const { audited, audited_different: different } = row.figures;
  if (audited) {
    return `${bound}Of ${count(audited)} kept answers that the big model was asked for as well, ${count(different)} `
      + `differed (${percent(row.different_share)}; at most ${percent(row.different_share_max)}, 95% sure).`;
  }
  return row.audit_share ? `${bound}No kept answer was asked for again in this span.`
    : `${bound}Nothing is measured here: audit_share asks the big model for some of what is kept.`;
}
