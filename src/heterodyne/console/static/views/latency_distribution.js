// How often a time of each length occurred, on a logarithmic axis of time, for one group, now and in an earlier period.

import { barChart } from "../lib/chart.js";
import { h, mount } from "../lib/dom.js";
import { count, ms, percent } from "../lib/format.js";
import { logBins } from "./bins.js";
import { choice } from "./choice.js";
import { groupName, MEASURES } from "./measures.js";
import { panel } from "./panel.js";
import { spanWords } from "./span_words.js";

export function distributionPanel(state) {
  let redraw = () => {};
  let chart = null;
  const of = choice({
    label: "Of", options: { "": "all groups" }, value: "",
    onChange: (said) => {
      state.set({ of: said });
      redraw();
    },
  });
  const part = panel({
    title: "Distribution",
    hint: "The share of requests in each bin, named by its end; bins are equally wide on a logarithmic axis.",
    tools: of.element,
    isWide: true,
  });

  function draw(page, before, { period, earlier, values }) {
    const names = page.groups.map((group) => groupName(group.group));
    of.set({ "": "all groups", ...Object.fromEntries(names.map((name) => [name, name])) }, values.of);
    const chosen = names.includes(values.of) ? values.of : "";
    const pages = before ? [page, before] : [page];
    const { edges, shares } = logBins(pages.map((one) => barsOf(one, chosen, values.measure)));
    part.say(`${MEASURES[values.measure]}, ${spanWords(period)}${earlier ? ` over ${spanWords(earlier)}` : ""}`);
    drop();
    if (!edges.length) {
      part.empty(`${MEASURES[values.measure]}: none in ${period.words}.`, "Choose a longer span, or send requests.");
      return;
    }
    chart = barChart({
      labels: edges.map(ms),
      series: [{ label: period.words, tone: 1 }, { label: earlier?.words, tone: 2 }].slice(0, pages.length),
      values: shares,
      format: percent,
    });
    const counted = barsOf(page, chosen, values.measure).reduce((sum, bar) => sum + bar.count, 0);
    mount(part.body, chart.element, h("p", { class: "panel-note" }, `${count(counted)} times counted.`));
  }

  function drop() {
    chart?.destroy();
    chart = null;
  }

  return {
    element: part.element,
    show: (asked) =>
      part.load(
        () => Promise.all([asked.sources.latency(asked.period), asked.sources.latency(asked.earlier)]),
        ([page, before]) => {
          redraw = () => draw(page, before, asked);
          redraw();
        },
      ),
    destroy: drop,
  };
}

function barsOf(page, chosen, measure) {
  return page.groups.filter((group) => !chosen || groupName(group.group) === chosen).flatMap((group) => group[measure]);
}
