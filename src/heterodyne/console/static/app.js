// The frame: who is here, which view the address names, and the keys that lead to the others.

import { ApiError, get, signals } from "./lib/api.js";
import { h, mount } from "./lib/dom.js";
import { live } from "./lib/live.js";
import { readHash, writeHash } from "./lib/route.js";
import { listenForKeys } from "./lib/keys.js";
import "./lib/theme.js";
import { header } from "./views/header.js";
import { openHelp } from "./views/help.js";
import { signIn } from "./views/sign_in.js";
import { tonesOf } from "./views/tones.js";

const VIEWS = [
  { id: "fleet", title: "Fleet", key: "f" },
  { id: "requests", title: "Requests", key: "r" },
  { id: "latency", title: "Latency", key: "l" },
  { id: "money", title: "Money", key: "m" },
  { id: "tenants", title: "Tenants", key: "t" },
  { id: "capacity", title: "Capacity", key: "c" },
  { id: "playground", title: "Playground", key: "p" },
  { id: "plan", title: "Plan", key: "n" },
  { id: "rollouts", title: "Rollouts", key: "o" },
  { id: "models", title: "Models", key: "d" },
  { id: "batches", title: "Batches", key: "b" },
  { id: "policies", title: "Guards & caches", key: "s" },
  { id: "kv", title: "KV", key: "k" },
];

const app = document.getElementById("app");
let session = null;
let top = null;
let endView = null;
let turn = 0;

async function start() {
  try {
    session = await get("/session");
  } catch (error) {
    return showTrouble(document.getElementById("main"), "The console does not answer", error);
  }
  if (session.needs_key && session.who === null) showSignIn();
  else showFrame();
}

function showSignIn() {
  leaveView();
  live.stop();
  top?.end();
  top = null;
  document.title = "Sign in · Heterodyne";
  const main = mainElement();
  mount(app, main);
  signIn(main, session.issuer_url, (signedIn) => {
    session = signedIn;
    showFrame();
  });
}

function showFrame() {
  live.start();
  top?.end();
  top = header({ session, views: VIEWS, live, onHelp: () => openHelp(VIEWS), onSignedOut: start });
  mount(app, top.element, mainElement());
  showView();
  fetchViews();
}

// Ahead of time, so that a view opens also when the gateway has gone; those that fail are fetched when they are opened.
function fetchViews() {
  const later = globalThis.requestIdleCallback ?? setTimeout;
  later(() => Promise.allSettled(VIEWS.map((view) => import(`./views/${view.id}.js`))));
}

async function showView() {
  if (!top) return;
  const route = readHash(location.hash);
  const named = VIEWS.find((view) => view.id === route.id) ?? VIEWS[0];
  turn += 1;
  const mine = turn;
  leaveView();
  top.show(named.id);
  document.title = `${named.title} · Heterodyne`;
  const main = document.getElementById("main");
  main.dataset.view = named.id;
  mount(main, h("h1", null, named.title));
  try {
    const { view } = await importView(named.id);
    if (mine !== turn) return; // somebody has gone on meanwhile
    mount(main);
    endView = view.render(main, context(route.params)) ?? null;
  } catch (error) {
    if (mine === turn) showTrouble(main, `${named.title} cannot be shown`, error);
  }
}

async function importView(id) {
  try {
    return await import(`./views/${id}.js`);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it came, and is broken
    throw new ApiError(0, "not_connected", "The gateway does not answer, and this view was not opened before.");
  }
}

function context(params) {
  return {
    session,
    live,
    params,
    canChange: session.role !== "viewer",
    navigate: (hash) => { location.hash = hash; },
  };
}

function leaveView() {
  const end = endView;
  endView = null;
  try {
    end?.();
  } catch (error) {
    console.error(error);
  }
}

function showTrouble(main, title, error) {
  console.error(error);
  mount(main, h("div", { role: "alert" }, h("h1", null, title), h("p", { class: "problem" }, error.message)),
    h("button", { type: "button", on: { click: () => location.reload() } }, "Load again"));
}

function mainElement() {
  return h("main", { id: "main", tabindex: "-1" });
}

// Pools get their colours from the fleet as a whole, so that it does not matter which of them a view shows first.
live.subscribe((page) => tonesOf("pool", page.pools.map((row) => row.pool)));
signals.addEventListener("signed-out", async () => {
  if (!top) return;
  top.end();
  top = null;
  await start();
});
addEventListener("hashchange", async () => {
  await showView();
  document.getElementById("main").focus({ preventScroll: true });
  scrollTo(0, 0);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
listenForKeys({
  views: VIEWS,
  isIn: () => top !== null,
  onView: (id) => writeHash(id),
  onHelp: () => openHelp(VIEWS),
  onLeave: () => top?.close(),
});
start();
