// The room of one model: load and headroom, its pools, the forecast against the room, the loss of a replica, purchases.

import { lineChart } from "../lib/chart.js";
import { h, mount } from "../lib/dom.js";
import { NONE, rate, tokens } from "../lib/format.js";
import { table } from "../lib/table.js";
import { meter } from "../lib/widgets.js";
import { fullWords, lossWords, purchaseWords, roomOf } from "./capacity_words.js";
import { prose } from "./prose.js";

const FORECAST = [
  { label: "expected", tone: 1 },
  { label: "at most, nine times in ten", tone: "muted" },
  { label: "at least", tone: "muted" },
];

export function modelPanel() {
  const title = h("h3");
  const figures = h("dl", { class: "room-figures" });
  const pools = table({
    caption: "Pools", columns: COLUMNS, rows: [], rowKey: (row) => row.pool, empty: "No pool takes work.",
  });
  const chartPlace = h("div", { class: "forecast" });
  const verdicts = h("ul", { class: "verdicts" });
  const element = h("article", { class: "model-room" }, title, figures, pools.element,
    h("div", { class: "model-room-parts" }, verdicts, chartPlace));
  let chart = null;

  function show(room) {
    mount(title, room.model);
    mount(figures,
      figure("Load", room.load === null ? h("span", null, "not known") : meter(room.load, `load of ${room.model}`)),
      figure("Headroom", rate(room.headroom_requests_per_s, "requests/s")),
      figure("Demand", rate(room.requests_per_s, "requests/s")),
      figure("A request has", lengthWords(room)));
    pools.update(room.pools);
    mount(verdicts, [fullWords(room), lossWords(room), purchaseWords(room)].map(verdict));
    drawForecast(room);
  }

  function drawForecast(room) {
    if (!room.forecast.length) {
      drop();
      mount(chartPlace, h("p", { class: "panel-note" }, prose(`No forecast: ${room.forecast_basis}.`)));
      return;
    }
    const most = roomOf(room);
    const series = [...FORECAST];
    const times = room.forecast.map((point) => point.at);
    const values = ["requests_per_s", "high", "low"].map((name) => room.forecast.map((point) => point[name]));
    if (most !== null) {
      series.push({ label: "room", tone: "bad" });
      values.push(times.map(() => most));
    }
    if (chart) {
      chart.update(times, values, series);
    } else {
      chart = lineChart({
        title: "Forecast of demand", unit: "requests/s", series, times, values, kind: "line", format: rate,
        restsAt: "first",
      });
    }
    mount(chartPlace, chart.element, h("p", { class: "panel-note" }, prose(`From ${room.forecast_basis}.`)));
  }

  function drop() {
    chart?.destroy();
    chart = null;
  }

  return { element, show, destroy: drop };
}

const COLUMNS = [
  { key: "pool", title: "Pool", stamp: (row) => row.pool, render: (row) => h("span", { class: "whole" }, row.pool) },
  {
    key: "hardware", title: "Hardware", stamp: hardwareWords,
    render: (row) => h("span", { class: "whole" }, hardwareWords(row)),
  },
  { key: "replicas", title: "Replicas", numeric: true },
  {
    key: "load", title: "Load", stamp: (row) => String(row.load),
    render: (row) => (row.load === null ? h("span", null, NONE) : meter(row.load, `load of ${row.pool}`)),
  },
  {
    key: "requests_per_s_max", title: "Room", numeric: true,
    render: (row) => rate(row.requests_per_s_max, "requests/s"),
  },
  { key: "basis", title: "Known from", stamp: (row) => row.basis, render: (row) => prose(row.basis) },
];

function hardwareWords(row) {
  return row.hardware ? `${row.tp} × ${row.hardware}` : NONE;
}

function lengthWords(room) {
  if (!room.prompt_tokens_mean) return NONE;
  return `${tokens(room.prompt_tokens_mean)} + ${tokens(room.completion_tokens_mean)} tokens`;
}

function verdict({ words, tone, items }) {
  const list = items && h("ul", null, items.map((item) => h("li", null, item)));
  return h("li", { class: `verdict verdict-${tone}` }, prose(words), list);
}

function figure(name, value) {
  return h("div", null, h("dt", null, name), h("dd", null, value));
}
