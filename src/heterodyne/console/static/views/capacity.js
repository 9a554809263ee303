// Capacity: how much room each model has, how long it lasts, whether it survives a loss, and what would give more.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { clock } from "../lib/format.js";
import { modelPanel } from "./capacity_model.js";
import { emptyState, panel } from "./panel.js";
import { repeat } from "./repeat.js";
import { viewHead } from "./view_head.js";

const REFRESH_S = 15;

export const view = {
  id: "capacity",
  title: "Capacity",
  key: "c",
  render(root) {
    const part = panel({
      title: "Room by model",
      hint: "Room is what the pools serve within the promised latency, of requests as they are now.",
      isWide: true,
    });
    const models = new Map(); // name -> panel
    const draw = (page) => {
      part.say(`as of ${clock(page.at)}; demand is of the last minutes`);
      if (!page.models.length) {
        part.empty("No model has a pool.", "Add one under `pools` in the settings.");
        return;
      }
      for (const [name, one] of models) {
        if (page.models.some((room) => room.model === name)) continue;
        one.destroy();
        models.delete(name);
      }
      for (const room of page.models) {
        if (!models.has(room.model)) models.set(room.model, modelPanel());
        models.get(room.model).show(room);
      }
      mount(part.body, page.models.map((room) => models.get(room.model).element));
    };
    const refresh = () => part.load(() => get("/admin/capacity"), draw);
    mount(part.body, emptyState("Asking the planner…"));
    mount(root, viewHead("Capacity"), h("div", { class: "panels" }, part.element));
    refresh();
    const stop = repeat(REFRESH_S, refresh);
    return () => {
      stop();
      for (const one of models.values()) one.destroy();
    };
  },
};
