// Guards, caches and cascades: what each did in a span and in the last minute, what it saved and what is known of errors.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { spanOf, spanPicker } from "../lib/widgets.js";
import { hashState } from "./hash_state.js";
import { cachesPanel } from "./policies_caches.js";
import { cascadesPanel } from "./policies_cascades.js";
import { guardsPanel } from "./policies_guards.js";
import { hitsPanel } from "./policies_hits.js";
import { repeat } from "./repeat.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 5;
const DEFAULTS = { span: "1h", policy: "", action: "" };

export const view = {
  id: "policies",
  title: "Guards & caches",
  key: "s",
  render(root, context) {
    const state = hashState("policies", DEFAULTS, context.params);
    const hits = hitsPanel(state, () => hits.show(sourcesOf(state.values)));
    const choose = (policy) => {
      state.set({ policy });
      hits.choose(policy);
      hits.show(sourcesOf(state.values));
      hits.element.scrollIntoView({ block: "nearest" });
    };
    const parts = [guardsPanel(choose), cachesPanel(), cascadesPanel(), hits];
    const refresh = () => {
      const sources = sourcesOf(state.values);
      for (const part of parts) part.show(sources);
    };
    const picker = spanPicker({
      value: state.values.span,
      onChange: (span) => {
        state.set({ span });
        refresh();
      },
    });
    mount(root, viewHead("Guards & caches", picker.element),
      h("div", { class: "panels" }, parts.map((part) => part.element)));
    refresh();
    return repeat(REFRESH_S, refresh);
  },
};

function sourcesOf(values) {
  const { since_at, until_at, isLive } = spanOf(values.span);
  const span = isLive ? { since_at } : { since_at, until_at };
  return {
    page: (path) => get(path, span),
    hits: () => get("/admin/guards/hits", {
      ...span, policy: values.policy || null, action: values.action || null, limit: 50,
    }),
  };
}
