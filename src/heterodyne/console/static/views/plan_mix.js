// In which mix: replicas by kind, what they cost together, and who serves which requests.

import { ApiError, post } from "../lib/api.js";
import { barChart } from "../lib/chart.js";
import { h } from "../lib/dom.js";
import { count, percent, rate, usd } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge, meter } from "../lib/widgets.js";
import { wishOf } from "./plan_form.js";
import { notesOf, targetWords } from "./plan_hardware.js";
import { shareBar } from "./share_bar.js";

const ALONE_MAX = 8;
const GAP_SHOWN = 0.0005;
const WHO = "Who serves which requests";

export const mixQuestion = {
  id: "mix",
  title: "In which mix?",
  hint: "The cheapest mix of replicas for the traffic, within the targets. It may take some seconds.",
  submit: "Find the mix",
  answerTitle: "The cheapest mix",
  fields: [
    "model", "precision", "kv_precision", "workload_class", "slo_ttft_ms", "slo_itl_ms", "recorded_model",
    "prompt_tokens", "output_tokens",
    "requests_per_s", "buckets", "only", "available", "headroom", "spot_share_max", "critical_share",
    "survives_one_loss",
  ],
  ask: (values) => post("/admin/plan/mix", {
    ...wishOf(values),
    hardware: namesOf(values.only), available: numbersOf(values.available),
    buckets: Number(values.buckets), headroom: Number(values.headroom),
    spot_share_max: Number(values.spot_share_max), critical_share: Number(values.critical_share),
    survives_one_loss: values.survives_one_loss,
  }),
  draw(answer) {
    const tones = new Map(answer.kinds.map((kind, index) => [kind.name, (index % 8) + 1]));
    const kinds = table({ caption: "Replicas by kind", columns: KINDS, rows: answer.kinds, rowKey: (row) => row.name });
    const buckets = table({
      caption: WHO, columns: bucketColumns(tones), rows: answer.buckets, rowKey: (row) => row.name,
    });
    const alone = aloneChart(answer);
    return {
      window: targetWords(answer),
      element: [
        costOf(answer), kinds.element, h("h3", null, WHO), buckets.element, alone?.element, notesOf(answer.notes),
      ],
      destroy: () => alone?.destroy(),
    };
  },
};

// "h100-sxm, l4" -> ["h100-sxm", "l4"]
export function namesOf(said) {
  return said.split(",").map((name) => name.trim()).filter(Boolean);
}

// "h100-sxm=16, l4=8" -> { "h100-sxm": 16, l4: 8 }
export function numbersOf(said) {
  return Object.fromEntries(namesOf(said).map((one) => {
    const [name, number] = one.split("=").map((word) => word.trim());
    if (!name || !/^\d+$/.test(number ?? "")) {
      throw new ApiError(0, "invalid_field", `Chips available: "${one}" is not a name and a number, as h100-sxm=16.`);
    }
    return [name, Number(number)];
  }));
}

const KINDS = [
  { key: "name", title: "Kind", stamp: (row) => row.name, render: kindCell },
  { key: "replicas", title: "Replicas", numeric: true, render: (row) => count(row.replicas) },
  { key: "usd_per_hour", title: "$/h", numeric: true, render: (row) => usd(row.usd_per_hour) },
  {
    key: "utilisation", title: "Used", stamp: (row) => String(row.utilisation),
    render: (row) => meter(row.utilisation, `use of ${row.name}`),
  },
  { key: "rests_on", title: "Speed rests on" },
];

function kindCell(row) {
  const name = h("span", { class: "strong whole" }, `${row.tp} × ${row.hardware}`);
  return [name, row.is_spot && " ", row.is_spot && badge("spot", "warn")];
}

function bucketColumns(tones) {
  return [
    {
      key: "name", title: "Requests",
      render: (row) => [row.name, row.is_critical && " ", row.is_critical && badge("critical", "accent")],
    },
    { key: "requests_per_s", title: "Rate", numeric: true, render: (row) => rate(row.requests_per_s, "requests/s") },
    {
      key: "shares", title: "Served by",
      render: (row) => shareBar({ label: row.name, whole: 1, parts: partsOf(row, tones) }),
    },
  ];
}

function partsOf(row, tones) {
  return Object.entries(row.shares)
    .sort((a, b) => b[1] - a[1])
    .map(([name, share]) => ({ name, value: share, words: percent(share), tone: tones.get(name) ?? 8 }));
}

function costOf(answer) {
  const gap = answer.gap > GAP_SHOWN
    ? ` The search ran out of time: a mix up to ${percent(answer.gap)} cheaper may exist.`
    : "";
  return h("p", { class: "verdict verdict-good", role: "status" },
    h("strong", null, `${usd(answer.usd_per_hour)}/h.`), savingWords(answer), gap);
}

function savingWords(answer) {
  const [best] = answer.alone;
  if (!best) return " No kind alone could do it.";
  const saved = 1 - answer.usd_per_hour / best.usd_per_hour;
  if (saved <= GAP_SHOWN) return " No mix is cheaper than its best kind alone.";
  return ` ${percent(saved)} less than the cheapest kind alone (${best.name}, ${usd(best.usd_per_hour)}/h).`;
}

function aloneChart(answer) {
  if (!answer.alone.length) return null;
  const shown = [{ name: "this mix", usd_per_hour: answer.usd_per_hour }, ...answer.alone.slice(0, ALONE_MAX)];
  return barChart({
    title: "Dollars per hour, against one kind alone",
    labels: shown.map((one) => one.name),
    series: [{ label: "dollars per hour", tone: 1 }],
    values: [shown.map((one) => one.usd_per_hour)], format: usd, horizontal: true,
  });
}
