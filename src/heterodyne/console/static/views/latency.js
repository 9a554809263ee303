// Latency: percentiles over time and distributions by group, beside an earlier period, and how good predictions were.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { field, spanPicker } from "../lib/widgets.js";
import { choice } from "./choice.js";
import { hashState } from "./hash_state.js";
import { distributionPanel } from "./latency_distribution.js";
import { errorPanel, percentilePanel, promisePanel } from "./latency_lines.js";
import { percentileTable } from "./latency_table.js";
import { GROUPS, MEASURES, PERCENTILES } from "./measures.js";
import { AGAINST, earlierPeriod, historyParams, periodOf } from "./period.js";
import { repeat } from "./repeat.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 60; // as often as a minute is added
const DEFAULTS = {
  span: "1h", group: "pool", measure: "ttft", percentile: "p99_ms", compare: "nothing", ends: "", model: "", pool: "",
  of: "",
};

export const view = {
  id: "latency",
  title: "Latency",
  key: "l",
  render(root, context) {
    const state = hashState("latency", DEFAULTS, context.params);
    const parts = [percentilePanel(), percentileTable(), distributionPanel(state), errorPanel(), promisePanel()];
    const refresh = () => show(parts, state.values);
    const change = (changes) => {
      state.set(changes);
      refresh();
    };
    const tools = toolbar(state.values, change);
    mount(root, tools.head, h("div", { class: "panels" }, parts.map((part) => part.element)));
    refresh();
    const stops = [repeat(REFRESH_S, refresh), context.live.subscribe(tools.offer)];
    return () => {
      for (const stop of stops) stop();
      for (const part of parts) part.destroy?.();
    };
  },
};

function show(parts, values) {
  const period = periodOf(values.span);
  const earlier = earlierPeriod(period, values.compare, values.ends);
  const where = { by: values.group, model: values.model, pool: values.pool };
  const ask = once();
  const sources = {
    history: (of) => of && ask("/admin/history", { ...historyParams(of), ...where }),
    latency: (of) => of && ask("/admin/latency", { since_at: of.since, until_at: of.until, ...where }),
  };
  for (const part of parts) part.show({ period, earlier, values: { ...values }, sources });
}

// Several parts want the same answer; it is asked for once.
function once() {
  const answers = new Map();
  return (path, params) => {
    const key = path + JSON.stringify(params);
    if (!answers.has(key)) answers.set(key, get(path, params));
    return answers.get(key);
  };
}

function toolbar(values, change) {
  const ends = field({
    label: "Ending", name: "ends", type: "datetime-local", value: values.ends,
    onChange: (said) => change({ ends: said }),
  });
  const showEnds = () => ends.element.toggleAttribute("hidden", values.compare !== "custom");
  const pick = (label, name, options) =>
    choice({ label, options, value: values[name], onChange: (said) => change({ [name]: said }) });
  const against = choice({
    label: "Against", options: AGAINST, value: values.compare,
    onChange: (said) => {
      change({ compare: said });
      showEnds();
    },
  });
  const model = pick("Model", "model", onlyOne("every model", [], values.model));
  const pool = pick("Pool", "pool", onlyOne("every pool", [], values.pool));
  let offered = "";

  // Models and pools as they come.
  function offer({ pools }) {
    const names = pools.map((one) => `${one.model}\n${one.pool}`).join("\n");
    if (names === offered) return;
    offered = names;
    model.set(onlyOne("every model", pools.map((one) => one.model), values.model), values.model);
    pool.set(onlyOne("every pool", pools.map((one) => one.pool), values.pool), values.pool);
  }

  showEnds();
  const head = viewHead("Latency",
    spanPicker({ value: values.span, onChange: (span) => change({ span }) }).element,
    pick("Group by", "group", GROUPS).element,
    pick("Time", "measure", MEASURES).element,
    pick("Percentile", "percentile", PERCENTILES).element,
    model.element, pool.element, against.element, ends.element);
  return { head, offer };
}

function onlyOne(every, names, chosen) {
  const known = [...new Set([...names, chosen])].filter(Boolean).sort();
  return { "": every, ...Object.fromEntries(known.map((name) => [name, name])) };
}
