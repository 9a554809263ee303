// What is done to rollouts by hand: each change says what will happen before it does.

import { post } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { dialog, field, toast } from "../lib/widgets.js";

const CHANGES = {
  pause: {
    title: "Pause", tone: "primary", done: "paused",
    words: "Its share stays as it is until somebody resumes it. Surely worse, it is still taken back.",
  },
  resume: { title: "Resume", tone: "primary", done: "resumed", words: "It goes on when the evidence is enough." },
  promote: {
    title: "Promote", tone: "danger", done: "promoted",
    words: "It goes to the next stage at once, whatever the evidence says.",
  },
  abort: {
    title: "Abort", tone: "danger", done: "aborted",
    words: "Every conversation goes back to the baseline, and the candidate gets nobody until another rollout begins.",
  },
};
const BY_STATUS = { running: ["pause", "promote", "abort"], paused: ["resume", "promote", "abort"] };

// actionButtons(rollout, onDone) -> Nodes; of one that has ended, none.
export function actionButtons(rollout, onDone) {
  return (BY_STATUS[rollout.status] ?? []).map((name) => h("button", {
    type: "button", class: ["small", CHANGES[name].tone === "danger" && "danger"],
    on: { click: () => openChange(name, rollout, onDone) },
  }, CHANGES[name].title));
}

function openChange(name, rollout, onDone) {
  const change = CHANGES[name];
  dialog({
    title: `${change.title} the rollout of ${rollout.model}?`,
    body: h("p", null, change.words),
    actions: [{ label: change.title, tone: change.tone, run: async () => {
      await post(`/admin/rollouts/${name}`, { model: rollout.model });
      toast(`The rollout of ${rollout.model} was ${change.done}.`, "good");
      onDone();
    } }],
  });
}

// openStart(live page, onDone(model)): only models with two pools have something to come from and something to go to.
export function openStart(page, onDone) {
  const pools = new Map();
  for (const row of page?.pools ?? []) pools.set(row.model, [...(pools.get(row.model) ?? []), row.pool]);
  const models = [...pools.keys()].filter((model) => pools.get(model).length > 1).sort();
  if (!models.length) {
    dialog({
      title: "Start a rollout",
      body: h("p", null, "No model has two pools: add the candidate's to the settings, and reload."),
    });
    return;
  }
  const model = field({ label: "Model", name: "model", type: "select", options: models, onChange: offer });
  const boxes = h("fieldset", { class: "boxes" });
  const shadow = field({
    label: "Copies to compare first", name: "shadow", type: "number", value: 0, min: 0, max: 100000,
    hint: "of users' requests, whose answers nobody gets; 0: none",
  });
  const control = field({
    label: "Compare times with a control group", name: "control", type: "checkbox", value: true,
    hint: "replicas of the baseline that get as much as the candidate; it needs four",
  });
  let candidates = [];

  function offer() {
    candidates = pools.get(model.value).map((pool) => ({
      pool, box: field({ label: pool, name: `candidate-${pool}`, type: "checkbox", value: false }),
    }));
    const legend = h("legend", null, "Candidate; all other pools are the baseline");
    mount(boxes, legend, candidates.map((one) => one.box.element));
  }

  offer();
  dialog({
    title: "Start a rollout",
    body: [model.element, boxes, shadow.element, control.element],
    actions: [{ label: "Start", tone: "primary", run: async () => {
      const candidate = candidates.filter((one) => one.box.value).map((one) => one.pool);
      if (!candidate.length) throw new Error("Choose the pools that the model is to move to.");
      const begun = await post("/admin/rollouts/start", {
        model: model.value, candidate, shadow: Number(shadow.value || 0), control: control.value,
      });
      toast(`A rollout of ${begun.model} to ${begun.candidate.join(", ")} has begun.`, "good");
      onDone(begun.model);
    } }],
  });
}
