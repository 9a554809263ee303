// The door: one field for an operator's key, and a way to the issuer where there is one. The key goes to the server once
// and is kept nowhere in the page.

import { post } from "../lib/api.js";
import { h, mount } from "../lib/dom.js";
import { field } from "../lib/widgets.js";

const REFUSED = {
  not_allowed: "The issuer knows you, and you have no role here. Ask whoever runs this gateway.",
  issuer_unavailable: "The issuer does not answer. Try again, or sign in with a key.",
};

export function signIn(root, issuerUrl, onSignedIn) {
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

  const refused = new URLSearchParams(location.search).get("sign-in");
  if (refused !== null) {
    problem.hidden = false;
    problem.textContent = REFUSED[refused] ?? "You were not signed in. Try again; the gateway's log says why.";
    history.replaceState(null, "", location.pathname + location.hash);
  }
  mount(root, h("div", { class: "sign-in" },
    h("h1", null, "Heterodyne"),
    issuerUrl && h("p", null,
      h("a", { class: "button primary", href: "/sign-in" }, `Sign in with ${new URL(issuerUrl).host}`)),
    h("p", { class: "muted" }, "Sign in with a key of an operator, or with one that may only look."),
    form));
  key.input.focus();
}
