// What is wrong, each with a sentence and where to read on.

import { h } from "../lib/dom.js";
import { ago, clock } from "../lib/format.js";
import { badge, dialog } from "../lib/widgets.js";

const TONES = { page: "bad", ticket: "warn" };

export function alertsTone(alerts) {
  if (alerts.some((alert) => alert.severity === "page")) return "bad";
  return alerts.length ? "warn" : "";
}

// state: of the connection, as of live.watch
export function openAlerts(page, { isConnected, heardAt }) {
  const alerts = page?.alerts ?? [];
  const old = page && !isConnected && h("p", null, `As of ${clock(heardAt)}; what is wrong now is not known.`);
  const body = alerts.length
    ? h("ul", { class: "alert-list" }, alerts.map(line))
    : h("p", null, nothing(page, isConnected));
  dialog({ title: "Alerts", body: [old, body] });
}

function nothing(page, isConnected) {
  if (!page) return "The console has not heard from the fleet yet.";
  return isConnected
    ? "Nothing is wrong as far as the console can see."
    : "Nothing was wrong as far as the console could see.";
}

function line(alert) {
  return h("li", null,
    badge(alert.severity, TONES[alert.severity]), " ",
    h("strong", null, alert.name), ` · ${alert.subject} · ${ago(alert.since_at)}`,
    h("p", null, alert.summary),
    alert.guide && h("p", { class: "hint" }, "Guide: ", guide(alert.guide)));
}

// Only an address is made a link; a path in the documentation is named.
function guide(where) {
  if (!/^https?:\/\//.test(where)) return h("code", null, where);
  return h("a", { href: where, rel: "noreferrer", target: "_blank" }, where);
}
