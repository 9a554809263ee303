// The top of every page: the whole fleet in the last minute, what is wrong, whether we are connected, and who is here.

import { remove } from "../lib/api.js";
import { h, mount, setText } from "../lib/dom.js";
import { clock, count, rate, seconds, usd } from "../lib/format.js";
import { theme } from "../lib/theme.js";
import { toast } from "../lib/widgets.js";
import { alertsTone, openAlerts } from "./alerts.js";
import { FAILED_HINT, outcomesOf, REFUSED_HINT } from "./outcomes.js";

const FIGURES = [
  ["requests", (page) => rate(page.whole.requests_per_s, "/s")],
  ["tokens", (page) => rate(page.whole.tokens_per_s, "/s")],
  ["in flight", (page) => count(page.in_flight)],
  ["queued", (page) => count(page.queued)],
  ["failed", (page) => outcomesOf(page.whole).failedWords, (page) => page.whole.failed > 0, FAILED_HINT],
  ["refused", (page) => outcomesOf(page.whole).refusedWords, null, REFUSED_HINT],
  ["fleet", (page) => `${usd(page.usd_per_hour)}/h`],
];

const PATIENCE_S = 3; // for the first page, before we say that there is none

// -> { element, show(viewId), close(), end() }
export function header({ session, views, live, onHelp, onSignedOut }) {
  const values = FIGURES.map(() => h("dd", null, "–"));
  const figures = h("dl", { class: "figures", "aria-label": "The whole fleet in the last minute" },
    FIGURES.map(([name, , , hint], index) => h("div", { title: hint }, h("dt", null, name), values[index])));
  const connection = h("span", { class: "connection" }, "connecting");
  const alerts = h(
    "button",
    { type: "button", class: "alerts-button small", on: { click: () => openAlerts(live.latest, state) } },
    "Alerts",
  );
  const spoken = h("span", { class: "unseen", "aria-live": "polite" });
  let state = { isConnected: false };
  const themeButton = h("button", { type: "button", class: "quiet small", on: { click: () => theme.toggle() } });
  const sayTheme = () => setText(themeButton, theme.isDark ? "Light" : "Dark");
  const stale = h("p", { class: "stale-line", role: "status", hidden: true });
  const notices = h("div", { class: "notices", role: "status", hidden: true });
  const links = views.map(
    (view) => h("a", { href: `#/${view.id}`, dataset: { id: view.id }, on: { click: close } }, view.title)
  );
  const nav = h("nav", { class: "nav", id: "nav", "aria-label": "Views" }, links);
  const menu = h("button", {
    type: "button", class: "menu-button small", "aria-expanded": "false", "aria-controls": "nav",
    on: { click: () => menu.setAttribute("aria-expanded", String(nav.classList.toggle("open"))) },
  }, "Menu");

  function close() {
    nav.classList.remove("open");
    menu.setAttribute("aria-expanded", "false");
  }

  function take(page) {
    FIGURES.forEach(([, write, isBad], index) => {
      setText(values[index], write(page));
      values[index].classList.toggle("bad", Boolean(isBad?.(page)));
    });
    sayAlerts();
    setText(spoken, page.alerts.map((alert) => alert.summary).join(". "));
    showNotices(page.problems);
  }

  // What was last heard says nothing of now once the line is cut.
  function sayAlerts() {
    const known = state.isConnected ? live.latest.alerts : null;
    const sum = known?.length ?? 0;
    const words = sum === 0 ? "No alerts" : sum === 1 ? "1 alert" : `${sum} alerts`;
    setText(alerts, known === null ? "Alerts unknown" : words);
    alerts.dataset.tone = known === null ? "" : alertsTone(known);
  }

  function showNotices(problems) {
    const stamp = problems.join("\n");
    if (notices.dataset.stamp === stamp) return;
    notices.dataset.stamp = stamp;
    notices.hidden = problems.length === 0;
    mount(notices, problems.map((problem) => h("p", null, problem)));
  }

  function sayConnection(next) {
    const wasConnected = state.isConnected;
    state = next;
    const { isConnected, silentS, heardAt, hasPage } = next;
    const word = isConnected ? "on" : hasPage || silentS > PATIENCE_S ? "off" : "new";
    connection.dataset.state = word;
    setText(connection, { on: "live", new: "connecting", off: `not connected for ${seconds(silentS)}` }[word]);
    const isStale = word === "off";
    document.documentElement.toggleAttribute("data-stale", isStale);
    stale.hidden = !isStale;
    if (isStale) setText(stale, staleWords(hasPage, heardAt));
    if (wasConnected !== isConnected) sayAlerts();
  }

  const element = h("header", { class: "top" },
    h("div", { class: "top-line" },
      h(
        "a",
        { class: "brand", href: "#/fleet", title: `Version ${session.product}` },
        h("img", { src: "/static/favicon.svg", alt: "" }),
        "Heterodyne",
      ),
      figures,
      h("div", { class: "top-tools" },
        connection, alerts, spoken, themeButton,
        h(
          "button",
          { type: "button", class: "quiet small keys-button", "aria-label": "Keys", on: { click: onHelp } },
          "?",
        ),
        who(session, onSignedOut), menu)),
    nav, stale, notices);
  sayTheme();
  const endings = [live.subscribe(take), live.watch(sayConnection), theme.onChange(sayTheme)];
  return {
    element,
    close,
    show(id) {
      for (const link of links) {
        if (link.dataset.id === id) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    },
    end() {
      endings.forEach((ending) => ending());
      document.documentElement.removeAttribute("data-stale");
    },
  };
}

function staleWords(hasPage, heardAt) {
  if (!hasPage) return "The gateway does not answer: nothing is known of the fleet.";
  const since = `The gateway has not been heard since ${clock(heardAt)}.`;
  return `${since} What is shown is as of then; how it is now is not known.`;
}

function who(session, onSignedOut) {
  if (!session.needs_key) return null;
  const leave = async () => {
    try {
      await remove("/session");
      await onSignedOut();
    } catch (error) {
      toast(error.message, "bad");
    }
  };
  return h("span", { class: "who" }, h("span", { class: "who-name" }, `${session.who} · `), session.role,
    h("button", { type: "button", class: "quiet small", on: { click: leave } }, "Sign out"));
}
