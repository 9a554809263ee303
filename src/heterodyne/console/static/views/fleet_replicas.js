// The replicas of one pool; hundreds of rows that change every second.

import { h } from "../lib/dom.js";
import { count, percent } from "../lib/format.js";
import { table } from "../lib/table.js";
import { badge } from "../lib/widgets.js";
import { openChange } from "./fleet_actions.js";

const TONES = {
  ready: "good",
  starting: "warn",
  restarting: "warn",
  draining: "accent",
  drained: "accent",
  leaving: "accent",
  down: "bad",
};

export function replicaTable(pool, canChange) {
  const columns = [
    { key: "id", title: "Replica", sort: true },
    { key: "state", title: "State", sort: true, stamp: (row) => `${row.state} ${row.is_ejected}`, render: state },
    { key: "in_flight", title: "In flight", numeric: true, sort: true, render: (row) => count(row.in_flight) },
    { key: "running", title: "Running", numeric: true, sort: true, render: (row) => count(row.running) },
    { key: "waiting", title: "Waiting", numeric: true, sort: true, render: (row) => count(row.waiting) },
    { key: "kv_share", title: "KV", numeric: true, sort: true, render: (row) => percent(row.kv_share) },
    { key: "problems", title: "Problems", render: (row) => row.problems.join("; ") },
  ];
  const change = {
    key: "actions", title: "Change", stamp: (row) => `${row.state} ${row.is_local}`, render: actions,
  };
  if (canChange) columns.push(change);
  return table({
    caption: `Replicas of ${pool}`, columns, rows: [], rowKey: (row) => row.id, empty: "This pool has no replicas.",
  });
}

function state(row) {
  return [badge(row.state, TONES[row.state]), row.is_ejected && [" ", badge("ejected", "bad")]];
}

function actions(row) {
  const isDrained = row.state === "drained" || row.state === "draining";
  const button = (name, title, tone) => h("button", {
    type: "button", class: ["small", tone], "aria-label": `${title} ${row.id}`, on: {
      click: () => openChange(name, { replica: row.id }),
    },
  }, title);
  return h("span", { class: "replica-actions" },
    isDrained ? button("undrain", "Undrain", "quiet") : button("drain", "Drain", "quiet"),
    row.is_local && button("restart", "Restart", "quiet"), button("remove", "Remove", "quiet"));
}
