// Percentiles of every group over the whole span, and by how much they changed against an earlier period.

import { mount } from "../lib/dom.js";
import { count, ms, percent } from "../lib/format.js";
import { table } from "../lib/table.js";
import { changeCell } from "./change_cell.js";
import { figureColumn } from "./figure_column.js";
import { changeOf, groupName, MEASURES, PERCENTILES } from "./measures.js";
import { panel } from "./panel.js";
import { spanWords } from "./span_words.js";

export function percentileTable() {
  const part = panel({ title: "Percentiles of the whole span", isWide: true });

  function draw(page, before, { period, earlier, values }) {
    const against = earlier ? `; change against ${spanWords(earlier)}` : "";
    part.say(`${MEASURES[values.measure]}, ${spanWords(period)}${against}`);
    const rows = page.groups.map((group) => rowOf(group, before, values.measure));
    const shown = table({
      caption: `Percentiles by ${values.group}`,
      columns: columnsOf(values, Boolean(earlier)),
      rows,
      rowKey: (row) => row.name,
      empty: `No requests in ${period.words}.`,
    });
    mount(part.body, shown.element);
  }

  return {
    element: part.element,
    show: (asked) =>
      part.load(
        () => Promise.all([asked.sources.latency(asked.period), asked.sources.latency(asked.earlier)]),
        ([page, before]) => draw(page, before, asked),
      ),
  };
}

function rowOf(group, before, measure) {
  const name = groupName(group.group);
  const old = before?.groups.find((other) => groupName(other.group) === name);
  const spread = group.figures[measure];
  const row = { name, requests: group.figures.requests, count: spread.count, mean_ms: spread.mean_ms };
  row.attainment = group.figures.attainment;
  for (const percentile of Object.keys(PERCENTILES)) {
    row[percentile] = spread[percentile];
    row[`${percentile}_change`] = changeOf(spread[percentile], old?.figures[measure][percentile]);
  }
  return row;
}

function columnsOf(values, isCompared) {
  const columns = [
    { key: "name", title: values.group, sort: true },
    figureColumn("count", "Counted", count),
    figureColumn("mean_ms", "Mean", ms),
  ];
  for (const [key, title] of Object.entries(PERCENTILES)) {
    columns.push(figureColumn(key, title, ms));
    if (isCompared) columns.push(figureColumn(`${key}_change`, `${title} change`, changeCell));
  }
  columns.push(figureColumn("attainment", "Promises kept", percent));
  return columns;
}
