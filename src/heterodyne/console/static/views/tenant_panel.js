// One project: all of its limits with their use, its models today, and its last requests.

import { get } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { clock, count, dateTime, ms, NONE, seconds, tokens, usd } from "../lib/format.js";
import { hashOf } from "../lib/route.js";
import { table } from "../lib/table.js";
import { badge, meter } from "../lib/widgets.js";
import { panel } from "./panel.js";
import { amount, limitWords, useOf } from "./tenant_limits.js";

const MICRO = 1e6;
const LAST = 10; // requests

export function tenantPanel(onClose) {
  const close = h("button", { type: "button", on: { click: onClose } }, "Close");
  const heading = h("h2", { tabindex: "-1" });
  const facts = h("p", { class: "opened-facts" });
  const limits = panel({ title: "Limits" });
  const models = panel({ title: "Models today" });
  const requests = panel({ title: "Last requests", isWide: true });
  const leave = (event) => event.key === "Escape" && onClose();
  const element = h("section", { class: "opened", hidden: true, "aria-label": "One project", on: { keydown: leave } },
    h("div", { class: "opened-head" }, heading, close), facts,
    h("div", { class: "panels" }, limits.element, models.element, requests.element));
  const limitTable = table({
    caption: "Limits", columns: LIMITS, rows: [], rowKey: (limit) => `${limit.level} ${limit.limit_name}`,
  });
  let shown = "";

  function show(project, row, day) {
    element.toggleAttribute("hidden", !project);
    if (!project) {
      shown = "";
      return;
    }
    mount(heading, project);
    mount(facts, row ? factsOf(row) : "It is not among the projects: its name may be misspelt.");
    limits.say("as of now, of the project and its organisation");
    limitTable.update(row?.limits ?? []);
    if (row?.limits.length) mount(limits.body, limitTable.element);
    else limits.empty("No limits.", "Set them: `heterodyne tenants update`.");
    if (shown === project) return;
    shown = project;
    const today = { project, by: "model", since: day };
    models.load(() => get("/admin/usage", today), (page) => drawModels(models, page, day));
    const newest = { project, limit: LAST };
    requests.load(() => get("/admin/usage/requests", newest), (page) => drawRequests(requests, page, project));
  }

  return { element, show, focus: () => heading.focus() };
}

const LIMITS = [
  { key: "limit_name", title: "Limit", render: limitWords },
  { key: "level", title: "Of", render: (limit) => limit.level.replace(":", " ") },
  { key: "used", title: "Used", numeric: true, render: (limit) => amount(limit, limit.used) },
  { key: "limit", title: "Allowed", numeric: true, render: (limit) => amount(limit, limit.limit) },
  {
    key: "use", title: "Use", stamp: (limit) => String(useOf(limit)),
    render: (limit) => meter(useOf(limit), limitWords(limit)),
  },
  { key: "resets_at", title: "Resets", render: (limit) => resetWords(limit.resets_at) },
];

function resetWords(at) {
  if (at === null) return "as they end"; // a limit of what runs now
  const left = at - Date.now() / 1000;
  return left > 0 ? `in ${seconds(left)}` : clock(at);
}

function factsOf(row) {
  return [
    `organisation ${row.organisation}, tier ${row.tier}, weight ${row.weight}, ${count(row.queued)} queued now. `,
    row.is_disabled && badge("disabled", "warn"),
  ];
}

const MODELS = [
  { key: "model", title: "Model", render: (row) => row.group.model || "(none)" },
  { key: "requests", title: "Requests", numeric: true, render: (row) => count(row.requests) },
  { key: "errors", title: "Errors", numeric: true, render: (row) => count(row.errors) },
  { key: "tokens", title: "Tokens", numeric: true, render: (row) => tokens(row.prompt_tokens + row.completion_tokens) },
  { key: "usd", title: "Dollars", numeric: true, render: (row) => usd(row.usd_micro / MICRO) },
];

function drawModels(part, page, day) {
  part.say(`UTC day ${day}`);
  if (!page.rows.length) return part.empty("No requests today.");
  const shown = table({
    caption: "Use by model today", columns: MODELS, rows: page.rows, rowKey: (row) => row.group.model,
  });
  return mount(part.body, shown.element);
}

const REQUESTS = [
  { key: "at", title: "At", render: (row) => h("a", { href: hashOf("requests", { id: row.id }) }, dateTime(row.at)) },
  { key: "model", title: "Model" },
  { key: "pool", title: "Pool", render: (row) => row.pool || NONE },
  {
    key: "status", title: "Status",
    render: (row) => (row.reason ? badge(`${row.status} ${row.reason}`, "bad") : String(row.status)),
  },
  { key: "ttft_ms", title: "TTFT", numeric: true, render: (row) => ms(row.ttft_ms) },
  { key: "total_ms", title: "Whole", numeric: true, render: (row) => ms(row.total_ms) },
];

function drawRequests(part, page, project) {
  part.say(`the newest ${LAST}`);
  const all = h("a", { href: hashOf("requests", { mode: "stored", project }) }, "All requests of this project");
  if (!page.requests.length) return part.empty("No requests are kept.", all);
  const shown = table({ caption: "Last requests", columns: REQUESTS, rows: page.requests, rowKey: (row) => row.id });
  return mount(part.body, shown.element, h("p", { class: "panel-note" }, all));
}
