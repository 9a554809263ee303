// KV as a fabric: what is held where, how it moves, what that saves, and what many prompts begin with.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { linksPanel } from "./kv_links.js";
import { prefixesPanel } from "./kv_prefixes.js";
import { savingsPanel } from "./kv_savings.js";
import { storesPanel } from "./kv_stores.js";
import { tiersPanel } from "./kv_tiers.js";
import { repeat } from "./repeat.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 5;

export const view = {
  id: "kv",
  title: "KV",
  key: "k",
  render(root) {
    const parts = [tiersPanel(), storesPanel(), linksPanel(), savingsPanel(), prefixesPanel()];
    const refresh = () => {
      const page = get("/admin/kv"); // one answer for all parts
      for (const part of parts) part.show(() => page);
    };
    mount(root, viewHead("KV"), h("div", { class: "panels" }, parts.map((part) => part.element)));
    refresh();
    return repeat(REFRESH_S, refresh);
  },
};
