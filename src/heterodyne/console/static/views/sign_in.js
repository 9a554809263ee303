// The door: one field for an operator's key. The key goes to the server once and is kept nowhere in the page.

import { post } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { field } from "../lib/widgets.js";

export function signIn(root, onSignedIn) {
  const key = field({
    label: "Operator key", name: "key", type: "password", autocomplete: "current-password",
    required: true, spellcheck: "false",
  });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const button = h("button", { type: "submit", class: "primary" }, "Sign in");
  const form = h("form", { on: { submit: send } }, key.element, problem, button);

  async function send(event) {
    event.preventDefault();
    button.disabled = true;
    problem.hidden = true;
    try {
      onSignedIn(await post("/session", { key: key.value.trim() }));
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
      key.input.select();
    } finally {
      button.disabled = false;
    }
  }

  mount(root, h("div", { class: "sign-in" },
    h("h1", null, "Heterodyne"),
    h("p", { class: "muted" }, "Sign in with a key of an operator, or with one that may only look."),
    form));
  key.input.focus();
}
