// What is wrong, each with a sentence and where to read on.

import { h } from "../lib/dom.js";
import { ago } from "../lib/format.js";
import { badge, dialog } from "../lib/widgets.js";

const TONES = { page: "bad", ticket: "warn" };

export function alertsTone(alerts) {
  if (alerts.some((alert) => alert.severity === "page")) return "bad";
  return alerts.length ? "warn" : "";
}

export function openAlerts(page) {
  const alerts = page?.alerts ?? [];
  const body = alerts.length
    ? h("ul", { class: "alert-list" }, alerts.map(line))
    : h(
      "p",
      null,
      page ? "Nothing is wrong as far as the console can see." : "The console has not heard from the fleet yet.",
    );
  dialog({ title: "Alerts", body });
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
