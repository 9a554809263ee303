// Fleet: every pool by its hardware, what it does now, what it costs, and what an operator can do about it.

import { h, mount, setText } from "../lib/dom.js";
import { count, usd } from "../lib/format.js";
import { rememberIn } from "../lib/route.js";
import { poolCard } from "./fleet_pool.js";
import { scalingPanel } from "./fleet_scaling.js";
import { repeat } from "./repeat.js";

const SCALING_S = 5;

const NO_HARDWARE = "no hardware named";

export const view = {
  id: "fleet",
  title: "Fleet",
  key: "f",
  render(root, context) {
    const state = {
      search: context.params.search ?? "",
      open: new Set((context.params.open ?? context.params.pool ?? "").split(",").filter(Boolean)),
    };
    const cards = new Map();
    const groups = new Map();
    const sum = h("span", { class: "muted" });
    const gateways = h("p", { class: "hint", hidden: true });
    const body = h("div", null, h("p", { class: "empty" }, "Waiting for the fleet…"));
    const scaling = scalingPanel();
    const search = h("input", {
      type: "search", placeholder: "Pool, model, hardware", "aria-label": "Search pools", value: state.search,
      on: {
        input: () => { state.search = search.value; remember(); if (context.live.latest) take(context.live.latest); },
      },
    });
    mount(root,
      h("div", { class: "view-head" }, h("h1", null, "Fleet"), sum, search),
      !context.canChange && h(
        "p", { class: "hint" }, "You may look and not change: draining, restarting and scaling are for operators."
      ),
      gateways,
      h("div", { class: "panels" }, scaling.element), body);

    function remember() {
      rememberIn("fleet", { search: state.search, open: [...state.open].join(",") });
    }

    function toggle(pool) {
      if (!state.open.delete(pool)) state.open.add(pool);
      remember();
      take(context.live.latest);
    }

    function take(page) {
      setText(sum, inOneLine(page));
      gateways.hidden = !page.gateways.length;
      setText(gateways, gatewaysInOneLine(page));
      const rows = worstFirst(page.pools.filter((row) => matches(row, state.search)));
      const replicas = grouped(page.replicas, (one) => one.pool);
      const byHardware = grouped(rows, (row) => row.hardware ?? NO_HARDWARE);
      for (const [name, members] of byHardware) {
        if (!groups.has(name)) groups.set(name, hardwareGroup(name));
        const group = groups.get(name);
        group.say(members);
        place(group.list, members.map((row) => card(row, replicas.get(row.pool) ?? []).element));
      }
      dropOthers(cards, new Set(page.pools.map((row) => row.pool)));
      const shown = [...byHardware.keys()].map((name) => groups.get(name).element);
      if (shown.length) place(body, shown);
      else mount(
        body,
        h(
          "p",
          { class: "empty" },
          page.pools.length ? "No pool matches." : "There are no pools: add one to the settings and reload.",
        ),
      );
    }

    function card(row, replicas) {
      if (!cards.has(row.pool)) cards.set(
        row.pool, poolCard(row, { canChange: context.canChange, onToggle: () => toggle(row.pool) })
      );
      const made = cards.get(row.pool);
      made.update(row, replicas, state.open.has(row.pool));
      return made;
    }

    const end = context.live.subscribe(take);
    scaling.refresh();
    const stop = repeat(SCALING_S, scaling.refresh);
    return () => {
      end();
      stop();
      for (const made of cards.values()) made.destroy();
    };
  },
};

function hardwareGroup(name) {
  const title = h("h2", null, name);
  const line = h("span", { class: "muted" });
  const list = h("div");
  const element = h(
    "section", { class: "silicon", "aria-label": name }, h("div", { class: "silicon-head" }, title, line), list
  );
  return {
    element,
    list,
    say(rows) {
      const price_usd = rows.reduce((sum, row) => sum + (row.usd_per_hour ?? 0), 0);
      const words = [plural(rows.length, "pool"), plural(add(rows, "replicas"), "replica")];
      if (price_usd) words.push(`${usd(price_usd)}/h`);
      setText(line, words.join(" · "));
    },
  };
}

function inOneLine(page) {
  const words = [`${count(add(page.pools, "ready"))} of ${plural(add(page.pools, "replicas"), "replica")} ready`];
  for (const name of ["drained", "down"]) {
    const sum = add(page.pools, name);
    if (sum) words.push(`${sum} ${name}`);
  }
  return words.join(", ");
}

function gatewaysInOneLine(page) {
  const others = page.gateways.map((one) => {
    const settings = one.settings || "unknown";
    return `${one.name} ${settings}${settings === page.settings ? "" : " (not those of this one)"}`;
  });
  return `Settings of the gateways: this one ${page.settings}, ${others.join(", ")}`;
}

// A pool that takes no work is what somebody came to see; the others keep their places.
function worstFirst(rows) {
  const isOut = (row) => row.replicas > 0 && row.down === row.replicas;
  return [...rows.filter(isOut), ...rows.filter((row) => !isOut(row))];
}

function matches(row, search) {
  const said = `${row.pool} ${row.model} ${row.hardware ?? ""} ${row.engine}`.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => said.includes(word));
}

// Puts these children in this order, moving only what is not in its place: what moves loses its focus.
function place(parent, children) {
  let at = parent.firstElementChild;
  for (const child of children) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
  while (at) {
    const next = at.nextElementSibling;
    at.remove();
    at = next;
  }
}

function dropOthers(cards, wanted) {
  for (const [pool, made] of cards) {
    if (wanted.has(pool)) continue;
    made.destroy();
    cards.delete(pool);
  }
}

function grouped(items, key) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

const add = (rows, name) => rows.reduce((sum, row) => sum + row[name], 0);
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
