// Money: what tokens cost by pool, busy and with idle time, by model and tenant, and under other policies.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { hashOf } from "../lib/route.js";
import { spanPicker } from "../lib/widgets.js";
import { choice } from "./choice.js";
import { hashState } from "./hash_state.js";
import { GROUPS } from "./measures.js";
import { hoursPanel } from "./money_hours.js";
import { poolsPanel } from "./money_pools.js";
import { ratePanel } from "./money_rate.js";
import { rehearsalPanel } from "./money_rehearsal.js";
import { sharesPanel } from "./money_shares.js";
import { daysOf, historyParams, periodOf } from "./period.js";
import { repeat } from "./repeat.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 60;
const DEFAULTS = {
  span: "24h", group: "pool", pool: "", model: "", policies: "slo,cost,load", past: "1h", ttft: "", itl: "",
  requests: "2000",
};

export const view = {
  id: "money",
  title: "Money",
  key: "m",
  render(root, context) {
    const state = hashState("money", DEFAULTS, context.params);
    const rehearsal = rehearsalPanel(state, context);
    const parts = [
      poolsPanel(),
      ratePanel(),
      hoursPanel(state),
      sharesPanel({ by: "model", title: "Dollars by model" }),
      sharesPanel({ by: "project", title: "Dollars by tenant", link: (project) => hashOf("tenants", { project }) }),
    ];
    const refresh = () => show(parts, state.values);
    const change = (changes) => {
      state.set(changes);
      refresh();
    };
    const head = viewHead("Money",
      spanPicker({ value: state.values.span, onChange: (span) => change({ span }) }).element,
      choice({
        label: "Over time by", options: GROUPS, value: state.values.group, onChange: (group) => change({ group }),
      }).element);
    mount(root, head, h("div", { class: "panels" }, parts.map((part) => part.element), rehearsal.element));
    refresh();
    const stop = repeat(REFRESH_S, refresh);
    return () => {
      stop();
      for (const part of [...parts, rehearsal]) part.destroy?.();
    };
  },
};

function show(parts, values) {
  const period = periodOf(values.span);
  const { since, until } = daysOf(period);
  const sources = {
    history: (by) => get("/admin/history", { ...historyParams(period), by }),
    usage: (by) => get("/admin/usage", { by, since, until }),
    idle: (days = { since, until }) => get("/admin/usage/idle", { since: days.since, until: days.until }),
  };
  for (const part of parts) part.show({ period, values, sources });
}
