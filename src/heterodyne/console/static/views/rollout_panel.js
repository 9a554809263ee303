// One rollout: its stages, what is known of its candidate, what happened and why, and the earlier ones of its model.

import { h, mount } from "../lib/dom.js";
import { count, dateTime, NONE } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { panel } from "./panel.js";
import { actionButtons } from "./rollout_actions.js";
import { evidenceList } from "./rollout_evidence.js";
import { stageLine } from "./rollout_stages.js";
import { shareWords, sidesWords, STATUS } from "./rollout_words.js";

// rolloutPanel({ canChange, onClose, onChanged, onOpen(rollout) }) -> { element, show(model, rows, id), focus() }
export function rolloutPanel({ canChange, onClose, onChanged, onOpen }) {
  const heading = h("h2", { tabindex: "-1" });
  const actions = h("div", { class: "pool-actions" });
  const close = h("button", { type: "button", class: "small", on: { click: onClose } }, "Close");
  const facts = h("dl", { class: "facts" });
  const stages = h("div");
  const evidence = panel({ title: "Evidence", isWide: true });
  const steps = panel({ title: "Steps" });
  const history = panel({ title: "Rollouts of this model" });
  const stepTable = table({ caption: "Steps", columns: STEPS, rows: [], rowKey: (step) => step.key });
  const historyTable = table({
    caption: "Rollouts of this model", columns: HISTORY, rows: [], rowKey: (row) => row.id, onOpen,
    rowClass: (row) => (row.id === shown?.id ? "is-open" : ""),
  });
  const leave = (event) => event.key === "Escape" && onClose();
  const element = h("section", { class: "opened", hidden: true, "aria-label": "One rollout", on: { keydown: leave } },
    h("div", { class: "opened-head" }, heading, actions, close), facts, stages,
    h("div", { class: "panels" }, evidence.element, steps.element, history.element));
  mount(steps.body, stepTable.element);
  mount(history.body, historyTable.element);
  let shown = null;
  let stamp = "";

  function show(model, rows, id) {
    element.toggleAttribute("hidden", !model);
    if (!model) return;
    shown = rows.find((row) => row.id === id) ?? rows[0] ?? null;
    if (!shown) {
      stamp = "";
      mount(heading, model);
      for (const part of [actions, facts, stages]) mount(part);
      evidence.say("");
      evidence.empty("There was no rollout of this model yet.", `\`heterodyne rollout start ${model}\` begins one.`);
      stepTable.update([]);
      historyTable.update([]);
      return;
    }
    historyTable.update(rows);
    const next = JSON.stringify(shown);
    if (next === stamp) return; // what has the focus keeps it
    stamp = next;
    draw(shown, rows[0].id === shown.id);
  }

  function draw(row, isLatest) {
    mount(heading, `${row.model}: ${sidesWords(row)} `, badge(STATUS[row.status].words, STATUS[row.status].tone));
    mount(actions, canChange && isLatest && actionButtons(row, onChanged));
    mount(facts, factsOf(row));
    mount(stages, stageLine(row.standing));
    evidence.say(`${count(row.candidate_evidence.requests)} requests of the candidate, `
      + `${count(row.baseline_evidence.requests)} of the baseline`);
    if (row.standing.evidence.length) mount(evidence.body, evidenceList(row.standing));
    else evidence.empty("Nothing was seen of users' requests yet.", "Evidence begins with the first canary.");
    stepTable.update(row.steps.map((step, index) => ({ ...step, key: index })).reverse());
  }

  return { element, show, focus: () => heading.focus() };
}

function factsOf(row) {
  const { standing, shadow } = row;
  const found = [
    ["Stage", standing.stage],
    ["Share of new conversations", shareWords(standing.share)],
    ["Begun", dateTime(row.began_at)],
  ];
  if (standing.control_replicas.length) {
    found.push(["Times compared now",
      `${standing.candidate_replicas.join(", ")} with ${standing.control_replicas.join(", ")}`]);
  } else if (standing.share > 0 && standing.share < 1) {
    found.push(["Times compared now", "both sides as a whole"]);
  }
  if (shadow.copies) found.push(["Copies compared", `${count(shadow.copies)}, ${count(shadow.failures)} failed`]);
  if (row.golden) found.push(["Golden questions", count(row.golden.questions.length)]);
  return found.map(([name, words]) => h("div", null, h("dt", null, name), h("dd", null, words)));
}

const STEPS = [
  { key: "at", title: "At", render: (step) => dateTime(step.at) },
  { key: "stage", title: "Stage" },
  { key: "what", title: "What", render: (step) => step.what.replace("_", " ") },
  { key: "why", title: "Why", render: (step) => step.why || (step.who && `by ${step.who}`) || NONE },
];

const HISTORY = [
  { key: "began_at", title: "Begun", render: (row) => dateTime(row.began_at) },
  { key: "candidate", title: "Candidate", render: (row) => row.candidate.join(", ") },
  {
    key: "status", title: "Status", stamp: (row) => row.status,
    render: (row) => badge(STATUS[row.status].words, STATUS[row.status].tone),
  },
  { key: "stage", title: "Stage", render: (row) => row.standing.stage },
];
