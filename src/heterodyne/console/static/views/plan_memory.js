// Does a model fit: the memory of one chip as a bar of its parts, a verdict, and the changes that would make it fit.

import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { bytes, count } from "../lib/format.js";
import { numberOf, textOf } from "./plan_form.js";
import { shareBar } from "./share_bar.js";

const TONES = { weights: 1, activations: 4, overhead: 8, kv: 3, free: "free", unclaimed: "unclaimed" };
const NAMES = { kv: "keys and values", unclaimed: "not claimed by the engine" };

export const memoryQuestion = {
  id: "memory",
  title: "Does it fit?",
  hint: "Where the memory of each chip goes, and what would make a model fit.",
  submit: "Lay it out",
  answerTitle: "Memory of one chip",
  fields: [
    "model", "hardware", "tp", "engine", "precision", "kv_precision", "context_tokens", "concurrency",
    "memory_fraction", "slots",
  ],
  ask: (values) => post("/admin/plan/memory", {
    model: values.model, hardware: values.hardware, tp: Number(values.tp), engine: values.engine,
    precision: textOf(values.precision), kv_precision: values.kv_precision,
    context_tokens: numberOf(values.context_tokens), concurrency: Number(values.concurrency),
    memory_fraction: numberOf(values.memory_fraction), slots: numberOf(values.slots),
  }),
  draw: (answer) => ({
    window: `${answer.model} in ${answer.precision}, keys and values in ${answer.kv_precision}, `
      + `on ${answer.tp} × ${answer.hardware} under ${answer.engine}`,
    element: [verdict(answer), chipBar(answer.parts, answer.memory_bytes), changesOf(answer), caveatsOf(answer)],
  }),
};

function verdict(answer) {
  const demand = `${count(answer.concurrency)} × ${count(answer.context_tokens)} tokens`;
  const most = answer.concurrency_max >= 1
    ? ` At most ${count(answer.concurrency_max)} of that length at once, `
      + `or ${count(answer.concurrency)} of ${count(answer.context_max_tokens)} tokens.`
    : " Not even one sequence of that length fits.";
  return h("p", { class: `verdict verdict-${answer.is_fitting ? "good" : "bad"}`, role: "status" },
    h("strong", null, answer.is_fitting ? `It fits: ${demand}.` : `It does not fit: ${demand}.`), most);
}

// Parts fill the chip in their order; whatever of them lies beyond its end is drawn last, as what is lacking.
function chipBar(parts, memory) {
  let taken = 0;
  const shown = parts.filter((part) => part.bytes >= 0).map((part) => {
    const inside = Math.max(0, Math.min(part.bytes, memory - taken));
    taken += part.bytes;
    return {
      name: NAMES[part.name] ?? part.name, value: inside, words: bytes(part.bytes), tone: TONES[part.name] ?? 8,
    };
  });
  const lacking = Math.max(0, taken - memory);
  if (lacking) shown.push({ name: "lacking", value: lacking, words: bytes(lacking), tone: "lacking" });
  return shareBar({ label: `${bytes(memory)} of one chip`, whole: memory + lacking, mark: memory, parts: shown });
}

function changesOf(answer) {
  if (answer.is_fitting) return null;
  if (!answer.changes.length) return h("p", null, "No single change that is known would make it fit.");
  return h("div", { class: "changes" }, h("h3", null, "Any one of these would make it fit, the smallest first"),
    h("ol", null, answer.changes.map(({ sentence, parts }) =>
      h("li", null, h("p", null, sentence), chipBar(parts, sizeOf(parts))))));
}

// The parts of a chip are together the whole.
function sizeOf(parts) {
  return parts.reduce((sum, part) => sum + part.bytes, 0);
}

function caveatsOf(answer) {
  if (!answer.caveats.length) return null;
  return h("ul", { class: "notes" }, answer.caveats.map((caveat) => h("li", null, caveat)));
}
