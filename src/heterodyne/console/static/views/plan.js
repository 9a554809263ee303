// Plan: the planner's three questions as forms: does it fit, on what, and in which mix.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { tabs } from "../lib/widgets.js";
import { hashState } from "./hash_state.js";
import { panel } from "./panel.js";
import { FIELD_DEFAULTS, planForm } from "./plan_form.js";
import { hardwareQuestion } from "./plan_hardware.js";
import { memoryQuestion } from "./plan_memory.js";
import { mixQuestion } from "./plan_mix.js";
import { viewHead } from "./view_head.js";

const QUESTIONS = { memory: memoryQuestion, hardware: hardwareQuestion, mix: mixQuestion };
const TABS = [{ id: "memory", title: "Memory" }, { id: "hardware", title: "Hardware" }, { id: "mix", title: "Mix" }];

export const view = {
  id: "plan",
  title: "Plan",
  key: "n",
  render(root, context) {
    const state = hashState("plan", { tab: "memory", asked: "", ...FIELD_DEFAULTS }, context.params);
    const place = h("div", { class: "panels" });
    let options = null;
    let question = null;

    function show() {
      question?.destroy();
      question = ask(QUESTIONS[state.values.tab] ?? memoryQuestion, state, options);
      mount(place, question.form, question.answer);
    }

    const choose = tabs({
      label: "Question", items: TABS, value: state.values.tab in QUESTIONS ? state.values.tab : "memory",
      onChange: (tab) => {
        state.set({ tab });
        if (options) show();
      },
    });
    const waiting = panel({ title: "Loading what can be planned", isWide: true });
    mount(root, viewHead("Plan", choose.element), mount(place, waiting.element));
    waiting.load(() => get("/admin/plan/options"), (found) => {
      options = found;
      show();
    });
    return () => question?.destroy();
  },
};

// One question: its form, and a panel for the answer. A link to an answer asks again.
function ask(question, state, options) {
  const answer = panel({ title: question.answerTitle, isWide: true });
  const formPanel = panel({ title: question.title, hint: question.hint, isWide: true });
  const body = h("div", { class: "answer" });
  const form = planForm({ names: question.fields, submit: question.submit, state, options, onAsk: run });
  let drawn = null;

  function run() {
    state.set({ asked: question.id });
    return answer.load(() => question.ask(form.read()), (found) => {
      drawn?.destroy?.();
      drawn = question.draw(found, { state });
      answer.say(drawn.window);
      mount(body, drawn.element);
      mount(answer.body, body);
    });
  }

  mount(formPanel.body, form.element);
  answer.empty("Nothing was asked yet.", `Fill in the form, then “${question.submit}”.`);
  if (state.values.asked === question.id && form.isComplete()) run();
  return { form: formPanel.element, answer: answer.element, destroy: () => drawn?.destroy?.() };
}
