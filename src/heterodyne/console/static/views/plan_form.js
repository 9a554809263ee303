// A form of the planner: fields are known by name, their values kept in the address; an empty one means "as usual".

import { h } from "../lib/dom.js";
import { bytes, usd } from "../lib/format.js";
import { field } from "../lib/widgets.js";

// What a field is set to at first; always text, as in the address.
export const FIELD_DEFAULTS = {
  model: "", hardware: "", precision: "", kv_precision: "bf16", tp: "1", engine: "vllm", context_tokens: "",
  concurrency: "8", memory_fraction: "", slots: "", workload_class: "interactive", slo_ttft_ms: "", slo_itl_ms: "",
  recorded_model: "", prompt_tokens: "1024", output_tokens: "256", requests_per_s: "", every_width: "", only: "",
  available: "", buckets: "3", headroom: "0.1", spot_share_max: "0", critical_share: "0", survives_one_loss: "",
};

const whole = { type: "number", min: 1, step: 1 };
const share = { type: "number", min: 0, max: 1, step: 0.01 };
const target = { type: "number", min: 0.1, step: "any", placeholder: "that of the class" };
const usual = { value: "", label: "as the model comes" };
const given = { value: "", label: "of the lengths given here" };

const FIELDS = {
  model: (options) => ({ label: "Model", type: "select", options: options.models.map((one) => one.name) }),
  hardware: (options) => ({ label: "Accelerator", type: "select", options: options.hardware.map(hardwareOption) }),
  precision: (options) => ({ label: "Weights", type: "select", options: [usual, ...options.precisions] }),
  kv_precision: (options) => ({ label: "Keys and values", type: "select", options: options.precisions }),
  tp: () => ({ label: "Chips a replica (TP)", ...whole }),
  engine: (options) => ({ label: "Engine", type: "select", options: options.engines }),
  context_tokens: () => ({ label: "Context, tokens", ...whole, placeholder: "8192" }),
  concurrency: () => ({ label: "Sequences at once", ...whole }),
  memory_fraction: () => ({ label: "Memory fraction", ...share, placeholder: "the engine's" }),
  slots: () => ({ label: "Slots", ...whole, placeholder: "the engine's" }),
  workload_class: (options) => ({ label: "Class", type: "select", options: options.classes.map(classOption) }),
  slo_ttft_ms: () => ({ label: "TTFT within, ms", ...target }),
  slo_itl_ms: () => ({ label: "ITL within, ms", ...target }),
  recorded_model: (options) => ({ label: "Requests", type: "select", options: [given, ...recorded(options)] }),
  prompt_tokens: () => ({ label: "Prompt, tokens", ...whole }),
  output_tokens: () => ({ label: "Answer, tokens", ...whole }),
  requests_per_s: () => ({ label: "Requests/s", type: "number", min: 0, step: "any", placeholder: "1, or the peak" }),
  every_width: () => ({ label: "Every width", type: "checkbox" }),
  only: () => ({ label: "Only these accelerators", placeholder: "h100-sxm, l4; empty: every one with a price" }),
  available: () => ({ label: "Chips available", placeholder: "h100-sxm=16, l4=8; empty: no limit" }),
  buckets: () => ({ label: "Bins of each length", type: "number", min: 1, max: 6, step: 1 }),
  headroom: () => ({ label: "Share kept free", ...share }),
  spot_share_max: () => ({ label: "Share on spot, at most", ...share }),
  critical_share: () => ({ label: "Critical share", ...share }),
  survives_one_loss: () => ({ label: "Survives the loss of a replica", type: "checkbox" }),
};

// planForm({ names, submit, state, options, onAsk }) -> { element, read(), isComplete() }
export function planForm({ names, submit, state, options, onAsk }) {
  const fields = Object.fromEntries(names.map((name) => [name, fieldOf(name, state, options)]));
  const read = () => Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, one.value]));
  const isComplete = () => element.checkValidity();
  const element = h("form", { class: "form", on: { submit: (event) => {
    event.preventDefault();
    keep(state, read());
    onAsk();
  } } },
  beginWith(options, names, (values) => {
    for (const [name, value] of Object.entries(values)) if (fields[name]) fields[name].value = value;
    keep(state, read());
  }),
  Object.values(fields).map((one) => one.element),
  h("div", { class: "form-end" }, h("button", { type: "submit", class: "primary" }, submit)));
  return { element, read, isComplete };
}

function fieldOf(name, state, options) {
  const said = FIELDS[name](options);
  const isBox = said.type === "checkbox";
  const value = state.values[name];
  const made = field({
    name, ...said, value: isBox ? value === "yes" : value,
    onChange: (next) => keep(state, { [name]: next }),
  });
  if (said.type === "select" && !made.input.value) made.input.selectedIndex = 0; // a name that is no longer there
  return made;
}

function keep(state, values) {
  const written = (value) => (value === true ? "yes" : value === false ? "" : value);
  state.set(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, written(value)])));
}

// A pool of this fleet fills the form in.
function beginWith(options, names, fill) {
  const pools = options.pools.filter((pool) => pool.shape !== null);
  if (!pools.length) return null;
  const select = field({
    label: "Begin with a pool", name: "pool", type: "select",
    options: [{ value: "", label: "none" }, ...pools.map((pool) => pool.pool)],
    onChange: (name) => {
      const pool = pools.find((one) => one.pool === name);
      if (!pool) return;
      fill({
        model: pool.shape, precision: pool.precision ?? "",
        ...(names.includes("tp") ? { tp: String(pool.tp), hardware: pool.hardware ?? "" } : {}),
        ...(names.includes("recorded_model") ? { recorded_model: pool.model } : {}),
      });
    },
  });
  return select.element;
}

function recorded(options) {
  const models = [...new Set(options.pools.map((pool) => pool.model))].sort();
  return models.map((model) => ({ value: model, label: `as recorded of ${model}` }));
}

function hardwareOption(one) {
  const price = one.usd_per_hour === null ? "" : `, ${usd(one.usd_per_hour)}/h`;
  return { value: one.name, label: `${one.name} (${bytes(one.memory_bytes)}${price})` };
}

function classOption(one) {
  return { value: one.name, label: `${one.name} (${one.slo_ttft_ms} ms, ${one.slo_itl_ms} ms)` };
}

// What was typed, as the planner takes it: nothing where nothing was.
export function numberOf(said) {
  return said === "" || said === undefined ? null : Number(said);
}

export function textOf(said) {
  return said === "" ? null : said;
}

// What two of the questions have in common.
export function wishOf(values) {
  return {
    model: values.model, precision: textOf(values.precision), kv_precision: values.kv_precision,
    workload_class: values.workload_class,
    slo_ttft_ms: numberOf(values.slo_ttft_ms), slo_itl_ms: numberOf(values.slo_itl_ms),
    traffic: {
      prompt_tokens: Number(values.prompt_tokens), output_tokens: Number(values.output_tokens),
      requests_per_s: numberOf(values.requests_per_s), recorded_model: textOf(values.recorded_model),
    },
  };
}
