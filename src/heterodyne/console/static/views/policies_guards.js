// Policies: how often each found something, what, and what it did; and the texts that none could look at.

import { h, mount } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { figureColumn } from "./figure_column.js";
import { panel } from "./panel.js";
import { DOES, LOOKS_AT, notSet, ruleWords } from "./policy_words.js";

const RULES_SHOWN = 4;

// `choose` is told the policy whose findings are to be listed.
export function guardsPanel(choose) {
  const part = panel({ title: "Guards", isWide: true });
  const list = table({
    caption: "Policies and what they found", columns: columnsOf(choose), rows: [], rowKey: (row) => row.policy,
  });
  const failures = h("p", { class: "verdict verdict-bad", hidden: true });

  function draw(page) {
    if (!page.guards.length) {
      part.empty("No policies are set.", "Name one in the settings, as `[guards.private]` with `guard = \"pii\"`.");
      return;
    }
    list.update(page.guards);
    const failed = page.failures.filter((one) => one.failures);
    failures.hidden = failed.length === 0;
    mount(failures, failed.map((one) => `${count(one.failures)} ${LOOKS_AT[one.direction]}`).join(" and "),
      " could not be looked at: what is only flagged passed unseen, and what is masked or blocked was refused.");
    if (part.body.firstChild !== list.element) mount(part.body, list.element, failures);
  }

  return { element: part.element, show: (sources) => part.load(() => sources.page("/admin/guards"), draw) };
}

function columnsOf(choose) {
  return [
    {
      key: "policy", title: "Policy", sort: true, stamp: (row) => `${row.policy} ${row.is_set}`,
      render: (row) => h("div", null, h("button", {
        type: "button", class: "quiet small strong named", title: "List what it found", on: { click: () => choose(row.policy) },
      }, row.policy), notSet(row)),
    },
    { key: "guard", title: "Guard", sort: true, render: (row) => ruleWords(row.guard) },
    {
      key: "action", title: "Does", stamp: (row) => row.action,
      render: (row) => badge(DOES[row.action].words, DOES[row.action].tone),
    },
    figureColumn("found", "Found", count),
    figureColumn("found_last_minute", "Last minute", count),
    {
      key: "rules", title: "What", stamp: (row) => JSON.stringify(row.rules),
      render: (row) => rules(row),
    },
  ];
}

function rules(row) {
  if (!row.rules.length) return "nothing";
  const more = row.rules.length - RULES_SHOWN;
  const shown = row.rules.slice(0, RULES_SHOWN).map((one) => `${ruleWords(one.rule)} ${count(one.found)}`);
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
