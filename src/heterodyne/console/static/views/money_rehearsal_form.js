// The form of a rehearsal: which requests, which policies, which targets. Its values are kept in the address.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { field, spanOf } from "../lib/widgets.js";
import { WORDS } from "./period.js";

const POLICIES_MAX = 6; // what one rehearsal takes
const USUAL = { ttft: 500, itl: 50 }; // until the server has said it
const PAST = Object.entries(WORDS).map(([value, label]) => ({ value, label }));

// rehearsalForm(state, context, run) -> { element, destroy() }; run({...}) gets the body of `POST /admin/rehearsal`.
export function rehearsalForm(state, context, run) {
  const { values } = state;
  const chosen = new Set(values.policies.split(","));
  const fields = {
    model: field({ label: "Model", name: "model", type: "select", options: [] }),
    past: field({ label: "Requests of", name: "past", type: "select", options: PAST, value: values.past }),
    requests: field({
      label: "At most", name: "requests", type: "number", value: values.requests, min: 10, max: 20000,
      hint: "the latest ones",
    }),
    ttft: field({
      label: "TTFT within, ms", name: "ttft", type: "number", value: values.ttft, min: 1, step: "any", required: true,
    }),
    itl: field({
      label: "ITL within, ms", name: "itl", type: "number", value: values.itl, min: 0.1, step: "any", required: true,
    }),
  };
  const policies = h("fieldset", { class: "boxes" });
  const problem = h("p", { class: "problem", role: "alert" });
  let boxes = [];
  let pools = [];
  const typed = new Set([values.ttft && "ttft", values.itl && "itl"]);
  for (const name of ["ttft", "itl"]) fields[name].input.addEventListener("input", () => typed.add(name));
  fields.model.input.addEventListener("change", offerTargets);

  // What the model promises, until somebody types something else; where it promises nothing, the usual of interactive
  // work.
  function offerTargets() {
    const promised = pools.find((pool) => pool.model === fields.model.value);
    if (!typed.has("ttft")) fields.ttft.value = promised?.slo_ttft_ms ?? USUAL.ttft;
    if (!typed.has("itl")) fields.itl.value = promised?.slo_itl_ms ?? USUAL.itl;
  }

  function offerPolicies(names) {
    boxes = names.map((policy) => {
      const made = field({ label: policy, name: `policy-${policy}`, type: "checkbox", value: chosen.has(policy) });
      return { policy, made };
    });
    mount(policies, h("legend", null, `Policies, at most ${POLICIES_MAX}`), boxes.map((box) => box.made.element));
  }

  const stop = context.live.subscribe((page) => {
    if (offerModels(fields.model, page, values.model)) offerTargets();
  });
  offerPolicies([...chosen]);
  get("/admin/plan/options").then(
    (options) => {
      offerPolicies(options.policies);
      pools = options.pools;
      const usual = options.classes.find((one) => one.name === "interactive");
      if (usual) Object.assign(USUAL, { ttft: usual.slo_ttft_ms, itl: usual.slo_itl_ms });
      offerTargets();
    },
    (error) => mount(problem, error.message),
  );

  function submit(event) {
    event.preventDefault();
    const asked = boxes.filter((box) => box.made.value).map((box) => box.policy);
    const missing = missingWords(fields.model.value, asked.length);
    mount(problem, missing);
    if (missing) return;
    state.set({
      model: fields.model.value, policies: asked.join(","), past: fields.past.value,
      requests: fields.requests.value, ttft: fields.ttft.value, itl: fields.itl.value,
    });
    const { since_at, until_at } = spanOf(fields.past.value);
    run({
      model: fields.model.value, policies: asked, since_at, until_at, requests_max: Number(fields.requests.value),
      slo_ttft_ms: Number(fields.ttft.value), slo_itl_ms: Number(fields.itl.value),
    });
  }

  const element = h("form", { class: "form", on: { submit } },
    Object.values(fields).map((one) => one.element),
    policies,
    h("div", { class: "form-end" }, h("button", { type: "submit", class: "primary" }, "Rehearse"), problem));
  return { element, destroy: stop };
}

function missingWords(model, policies) {
  if (!model) return "No model: no pool is known yet.";
  if (!policies) return "Choose at least one policy.";
  return policies > POLICIES_MAX ? `Choose at most ${POLICIES_MAX} policies.` : "";
}

// Models as they come; what somebody has chosen stays. -> whether there are others than before
function offerModels(made, page, first) {
  const models = [...new Set(page.pools.map((pool) => pool.model))].sort();
  const offered = [...made.input.options].map((option) => option.value);
  if (models.join("\n") === offered.join("\n")) return false;
  const chosen = made.value || first;
  mount(made.input, models.map((model) => h("option", { value: model }, model)));
  made.value = models.includes(chosen) ? chosen : models[0];
  return true;
}
