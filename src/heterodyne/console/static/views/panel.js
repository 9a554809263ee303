// One part of a view: a heading, the window its figures are of, and a body that keeps the old picture while the next is
// fetched, and says in place what went wrong.

import { h, mount } from "../lib/dom.js";
import { prose } from "./prose.js";

// panel({ title, hint, tools }) -> { element, body, load(fetch, draw), rename(title), say(window), empty(what, todo) }
export function panel({ title, hint, tools, isWide }) {
  const heading = h("h2", null, title);
  const window = h("p", { class: "panel-window" });
  const body = h("div", { class: "panel-body" });
  const trouble = h("div", { class: "panel-trouble", role: "alert" });
  const head = h("div", { class: "panel-head" }, heading, window, tools && h("div", { class: "panel-tools" }, tools));
  const element = h("section", { class: ["panel", isWide && "panel-wide"], "aria-label": title }, head,
    hint && h("p", { class: "panel-hint" }, prose(hint)), trouble, body);
  let turn = 0;

  // Only the answer to the latest question is drawn: answers may overtake each other.
  async function load(fetch, draw) {
    turn += 1;
    const mine = turn;
    element.classList.add("is-loading");
    element.setAttribute("aria-busy", "true");
    try {
      const found = await fetch();
      if (mine !== turn) return;
      mount(trouble);
      element.classList.remove("is-old");
      draw(found);
    } catch (error) {
      if (mine !== turn) return;
      if (error.status === undefined) console.error(error);
      element.classList.add("is-old"); // what is drawn is of an earlier question
      const old = body.firstChild ? " What is below is older, and may not be what was asked for." : "";
      mount(trouble, h("p", null, prose(error.message), old));
    } finally {
      if (mine === turn) {
        element.classList.remove("is-loading");
        element.removeAttribute("aria-busy");
      }
    }
  }

  const rename = (words) => {
    mount(heading, words);
    element.setAttribute("aria-label", words);
  };
  const say = (words) => mount(window, words);
  const empty = (what, todo) => mount(body, emptyState(what, todo));
  return { element, body, load, rename, say, empty };
}

// What is missing, and what to do.
export function emptyState(what, todo) {
  return h("div", { class: "empty-state" },
    h("p", { class: "empty-what" }, prose(what)), todo && h("p", null, prose(todo)));
}
