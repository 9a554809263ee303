// One pool: a line of words, a grid of figures that are written in place, and its replicas when it is open.

import { spark } from "../lib/chart.js";
import { h, mount, setText } from "../lib/dom.js";
import { count, ms, percent, rate, seconds, usd, usdPerMillion } from "../lib/format.js";
import { hashOf } from "../lib/route.js";
import { badge, meter, setMeter } from "../lib/widgets.js";
import { openAdd, openChange } from "./fleet_actions.js";
import { replicaTable } from "./fleet_replicas.js";
import { FAILED_HINT, outcomesOf, REFUSED_HINT } from "./outcomes.js";

const FIGURES = [
  ["In flight", (row) => count(row.in_flight) + (row.in_flight_max === null ? "" : ` of ${count(row.in_flight_max)}`)],
  ["Running · waiting", (row) => `${count(row.running)} · ${count(row.waiting)}`],
  ["TTFT p50 · p99", (row) => `${ms(row.last_minute.ttft.p50_ms)} · ${ms(row.last_minute.ttft.p99_ms)}`],
  ["ITL p50", (row) => ms(row.last_minute.itl.p50_ms)],
  ["Tokens", (row) => rate(row.last_minute.tokens_per_s, "/s")],
  ["Requests", (row) => rate(row.last_minute.requests_per_s, "/s")],
  [
    "Failed · refused",
    (row) => {
      const { failedWords, refusedWords } = outcomesOf(row.last_minute);
      return `${failedWords} · ${refusedWords}`;
    },
    (row) => row.last_minute.failed > 0,
    `Failed: ${FAILED_HINT}. Refused: ${REFUSED_HINT}.`,
  ],
  [
    "Promises kept",
    (row) => percent(row.last_minute.attainment),
    (row) => row.last_minute.attainment !== null && row.last_minute.attainment < 0.95,
  ],
  ["Prefix hits", (row) => percent(row.prefix_hit_share)],
  ["Price", price],
  ["Cost while busy", (row) => usdPerMillion(row.last_minute.usd_per_million_tokens)],
];

// -> { element, update(row, replicas, isOpen), destroy() }
export function poolCard(first, { canChange, onToggle }) {
  const pool = first.pool;
  const what = h("span", { class: "muted" });
  const badges = h("span");
  const toggle = h("button", { type: "button", class: "small", "aria-expanded": "false", on: { click: onToggle } });
  const load = meter(first.load, `Load of ${pool}`);
  const kv = meter(first.kv_share, `KV cache of ${pool}`);
  const values = FIGURES.map(() => h("dd"));
  const ttft = spark(first.spark_ttft_p50_ms, { label: `TTFT p50 of ${pool}`, tone: 1, width: 110 });
  const tokens = spark(first.spark_tokens_per_s, { label: `Tokens per second of ${pool}`, tone: 3, width: 110 });
  const [ttftName, tokensName] = [h("p"), h("p")];
  const past = h("p", { class: "pool-past", hidden: true });
  const problems = h("ul", { class: "pool-problems", hidden: true });
  const table = replicaTable(pool, canChange);
  const shelf = h("div", { class: "replicas", hidden: true });
  const actions = ["drain", "undrain", "restart", "remove"];
  const buttons = !canChange ? [] : actions.map((name) => h("button", {
    type: "button", class: "small quiet", on: { click: () => openChange(name, { pool }) },
  }, name[0].toUpperCase() + name.slice(1)));
  const adding = canChange && h(
    "button", { type: "button", class: "small quiet", on: { click: () => openAdd(pool) } }, "Add replica"
  );
  const named = (title, content, hint) => h(
    "div", { title: hint }, h("dt", null, title), content.tagName === "DD" ? content : h("dd", null, content)
  );
  const element = h("article", { class: "pool", "aria-label": `Pool ${pool}`, dataset: { pool } },
    h("div", { class: "pool-head" }, h("h3", null, pool), badges, what,
      h("div", { class: "pool-actions" },
        h(
          "a", { class: "button small quiet", href: hashOf("requests", { pool }) }, "Requests"
        ), buttons, adding, toggle)),
    h("div", { class: "pool-body" },
      h("dl", { class: "facts" },
        named("Load", load), named("KV cache", kv),
        FIGURES.map(([title, , , hint], index) => named(title, values[index], hint))),
      h(
        "div",
        { class: "pool-sparks" },
        h("div", null, ttftName, ttft.element),
        h("div", null, tokensName, tokens.element),
      )),
    past, problems, shelf);

  function update(row, replicas, isOpen) {
    setText(what, [row.model, row.engine, row.tp > 1 ? `TP ${row.tp}` : null].filter(Boolean).join(" · "));
    write(badges, `${row.ready} ${row.drained} ${row.down} ${row.replicas}`, () => stateBadges(row));
    setMeter(load, row.load, `Load of ${pool}`);
    setMeter(kv, row.kv_share, `KV cache of ${pool}`);
    FIGURES.forEach(([, figure, isBad], index) => {
      setText(values[index], figure(row));
      values[index].classList.toggle("bad", Boolean(isBad?.(row)));
    });
    const isOut = row.replicas > 0 && row.down === row.replicas;
    element.classList.toggle("out", isOut);
    past.hidden = !isOut || !row.last_minute.requests;
    setText(past, "No replica answers. Rates, times and promises are of requests that ended in the last minute.");
    const span = seconds(row.spark_step_s * row.spark_ttft_p50_ms.length);
    setText(ttftName, `TTFT p50, ${span}`);
    setText(tokensName, `Tokens/s, ${span}`);
    ttft.update(row.spark_ttft_p50_ms, `TTFT p50 of ${pool}, ${span}: latest ${ms(latest(row.spark_ttft_p50_ms))}`);
    tokens.update(
      row.spark_tokens_per_s, `Tokens per second of ${pool}, ${span}: latest ${rate(latest(row.spark_tokens_per_s))}`
    );
    write(problems, row.problems.join("\n"), () => row.problems.map((problem) => h("li", null, problem)));
    problems.hidden = row.problems.length === 0;
    sayOpen(row, replicas, isOpen);
    for (const [index, name] of actions.entries()) {
      if (!buttons[index]) continue;
      buttons[index].hidden = (name === "undrain" && row.drained === 0) || (
        name === "drain" && row.drained === row.replicas
      ) || (name === "restart" && row.local < row.replicas);
    }
  }

  function sayOpen(row, replicas, isOpen) {
    setText(toggle, isOpen ? "Hide replicas" : `${count(row.replicas)} ${row.replicas === 1 ? "replica" : "replicas"}`);
    toggle.setAttribute("aria-expanded", String(isOpen));
    shelf.hidden = !isOpen;
    if (!isOpen) return;
    if (!shelf.firstChild) shelf.append(table.element);
    table.update(replicas);
  }

  return {
    element,
    update,
    destroy() {
      ttft.destroy();
      tokens.destroy();
    },
  };
}

function stateBadges(row) {
  if (row.replicas === 0) return badge("empty", "warn");
  const parts = [];
  if (row.ready) parts.push(
    badge(
      row.ready === row.replicas ? "ready" : `${row.ready} of ${row.replicas} ready`,
      row.ready === row.replicas ? "good" : "warn",
    )
  );
  if (row.drained) parts.push(badge(row.drained === row.replicas ? "drained" : `${row.drained} drained`, "accent"));
  if (row.down) parts.push(badge(row.down === row.replicas ? "down" : `${row.down} down`, "bad"));
  return parts.length ? parts.flatMap((part) => [part, " "]) : badge("not ready", "warn");
}

function price(row) {
  if (row.usd_per_hour !== null) return `${usd(row.usd_per_hour)}/h`;
  const [prompt, completion] = [row.usd_per_million_prompt_tokens, row.usd_per_million_completion_tokens];
  if (prompt === null && completion === null) return "–";
  return `${usd(prompt)} in · ${usd(completion)} out /1M`;
}

function write(element, stamp, make) {
  if (element.dataset.stamp === stamp) return;
  element.dataset.stamp = stamp;
  mount(element, make());
}

const latest = (values) => values.findLast((value) => value !== null) ?? null;
