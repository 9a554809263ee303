// Small parts that several views share.

import { h, mount, setText } from "./dom.js";
import { percent } from "./format.js";

// tone: good, warn, bad, accent, or nothing
export function badge(said, tone) {
  return h("span", { class: ["badge", tone] }, said);
}

// A share of one as a bar with its figure; over 0.8 it warns, over 0.95 it is full. setMeter changes it.
export function meter(share, label) {
  const fill = h("span", { class: "meter-fill" });
  const element = h("span", { class: "meter", role: "meter", "aria-valuemin": "0", "aria-valuemax": "100" },
    h("span", { class: "meter-bar" }, fill), h("span", { class: "meter-text" }));
  setMeter(element, share, label);
  return element;
}

export function setMeter(element, share, label) {
  const shown = Math.max(0, Math.min(1, share ?? 0));
  const stamp = `${share === null || share === undefined ? "" : share.toFixed(3)}\n${label}`;
  if (element.dataset.stamp === stamp) return;
  element.dataset.stamp = stamp;
  element.dataset.tone = share > 0.95 ? "bad" : share > 0.8 ? "warn" : "accent";
  element.setAttribute("aria-label", label ?? "share");
  element.setAttribute("aria-valuenow", String(Math.round(shown * 100)));
  element.setAttribute("aria-valuetext", percent(share));
  element.firstChild.firstChild.style.setProperty("width", `${(shown * 100).toFixed(1)}%`);
  setText(element.lastChild, percent(share));
}

// tabs({ label, items: [{ id, title }], value, onChange(id) }) -> { element, select(id) }
// A row of choices of which one holds; what it switches is the caller's.
export function tabs({ label, items, value, onChange }) {
  const buttons = items.map((item) => h("button", {
    type: "button", role: "radio", "aria-checked": String(item.id === value), tabindex: item.id === value ? "0" : "-1",
    dataset: { id: item.id }, on: { click: () => choose(item.id) },
  }, item.title));
  const element = h("div", { class: "tabs", role: "radiogroup", "aria-label": label, on: { keydown: walk } }, buttons);

  function select(id) {
    for (const button of buttons) {
      const isIt = button.dataset.id === id;
      button.setAttribute("aria-checked", String(isIt));
      button.tabIndex = isIt ? 0 : -1;
    }
  }
  function choose(id) {
    select(id);
    onChange(id);
  }
  function walk(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    next.focus();
    choose(next.dataset.id);
  }
  if (!items.some((item) => item.id === value)) buttons[0].tabIndex = 0;
  return { element, select };
}

// dialog({ title, body, actions: [{ label, tone, run }], isWide, leave }) -> { element, close() }, opened
// `leave` is what the button says that does nothing; "Cancel", unless that is what the dialog is about.
// An action's `run` may be async: while it runs its button waits, what it throws is shown, `false` keeps the dialog
// open.
export function dialog({ title, body, actions = [], isWide = false, leave = "Cancel" }) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  // The first is what Enter does, so its button is the form's own.
  const buttons = actions.map((action, index) => h("button", index === 0 ? { type: "submit", class: action.tone }
    : { type: "button", class: action.tone, on: { click: () => act(action) } }, action.label));
  const close = h(
    "button",
    { type: "button", class: actions.length ? "quiet" : null, on: { click: () => element.close() } },
    actions.length ? leave : "Close",
  );
  const heading = h("h2", { id: "dialog-title" }, title);
  const element = h("dialog", { class: isWide && "wide", "aria-labelledby": "dialog-title" },
    h("form", { method: "dialog", on: { submit } },
      heading,
      h("div", { class: "dialog-body" }, body),
      problem,
      h("div", { class: "dialog-actions" }, close, buttons)));

  function submit(event) {
    event.preventDefault();
    if (actions[0]) act(actions[0]);
  }

  async function act(action) {
    problem.hidden = true;
    for (const button of buttons) button.disabled = true;
    try {
      if ((await action.run()) !== false) element.close();
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }
  element.addEventListener("close", () => element.remove());
  element.addEventListener("click", (event) => { if (event.target === element) element.close(); });
  document.body.append(element);
  element.showModal();
  return { element, close: () => element.close() };
}

const TOAST_S = 7;

// A line that goes by itself. tone: good, warn, bad
export function toast(message, tone) {
  let shelf = document.getElementById("toasts");
  if (!shelf) {
    shelf = h("div", { id: "toasts", role: "status" });
    document.body.append(shelf);
  }
  const line = h("p", { class: ["toast", tone] }, message);
  shelf.append(line);
  setTimeout(() => line.remove(), TOAST_S * 1000 * (tone === "bad" ? 2 : 1));
}

const SPANS = [
  ["15m", "15 min", 900], ["1h", "1 h", 3600], ["6h", "6 h", 21600], ["24h", "24 h", 86400], ["7d", "7 d", 604800],
];

// spanPicker({ value, onChange(value) }) -> { element, value }
// A value is a word that fits in a URL: "15m", "1h", "6h", "24h", "7d", or "1794735505-1794739105". spanOf reads it.
export function spanPicker({ value = "1h", onChange, label = "Time span" }) {
  const made = { value };
  const isAbsolute = () => made.value.includes("-");
  const choice = tabs({
    label, value: isAbsolute() ? "absolute" : value,
    items: [...SPANS.map(([id, title]) => ({ id, title })), { id: "absolute", title: "From … to" }],
    onChange: (id) => (id === "absolute" ? openFields() : say(id)),
  });
  const fields = h("span", { class: "span-fields" });
  made.element = h("div", { class: "span-picker" }, choice.element, fields);

  function say(next) {
    made.value = next;
    if (!isAbsolute()) mount(fields);
    onChange?.(next);
  }
  function openFields() {
    const { since_at, until_at } = spanOf(made.value);
    const [since, until] = [since_at, until_at].map((at) => h("input", { type: "datetime-local", value: local(at) }));
    since.setAttribute("aria-label", `${label}: from`);
    until.setAttribute("aria-label", `${label}: to`);
    const read = () => {
      const [from, to] = [since, until].map((input) => Math.floor(new Date(input.value).getTime() / 1000));
      const isRight = from < to;
      until.setCustomValidity(isRight ? "" : "It ends before it begins.");
      if (isRight) say(`${from}-${to}`);
    };
    since.addEventListener("change", read);
    until.addEventListener("change", read);
    mount(fields, since, " to ", until);
  }
  if (isAbsolute()) openFields();
  return made;
}

// As an input for dates and times reads it: the browser's own time, to the minute.
function local(at) {
  const offset_s = new Date(at * 1000).getTimezoneOffset() * 60;
  return new Date((at - offset_s) * 1000).toISOString().slice(0, 16);
}

// -> { since_at, until_at, isLive }, seconds since the epoch
export function spanOf(value, now = Date.now() / 1000) {
  const parts = /^(\d+)-(\d+)$/.exec(value ?? "");
  if (parts && Number(parts[1]) < Number(parts[2])) return {
    since_at: Number(parts[1]), until_at: Number(parts[2]), isLive: false,
  };
  const length_s = (SPANS.find(([id]) => id === value) ?? SPANS[1])[2];
  return { since_at: Math.floor(now - length_s), until_at: Math.ceil(now), isLive: true };
}

// field({ label, name, type, value, hint, options, onChange, onInput, ...attributes }) -> { element, input, value,
// problem(text) }
// type: any of <input>, or "select" (options: texts or { value, label }), "textarea", "checkbox" (value is true or
// false).
export function field({
  label, name, type = "text", value, hint, options, onChange, onInput, isLabelHidden, ...attributes
}) {
  const id = `field-${name}-${(fields += 1)}`;
  const isBox = type === "checkbox";
  const hintLine = hint && h("span", { class: "hint", id: `${id}-hint` }, hint);
  const problemLine = h("span", { class: "problem", id: `${id}-problem`, hidden: true });
  const shared = { id, name, "aria-describedby": hint ? `${id}-hint` : null, ...attributes };
  const input = type === "select"
    ? h("select", shared, (options ?? []).map((one) => h("option", { value: one.value ?? one }, one.label ?? one)))
    : type === "textarea" ? h("textarea", shared) : h("input", { ...shared, type });
  if (isBox) input.checked = Boolean(value);
  else if (value !== undefined && value !== null) input.value = value;
  const read = () => (isBox ? input.checked : input.value);
  if (onChange) input.addEventListener("change", () => onChange(read()));
  if (onInput) input.addEventListener("input", () => onInput(read()));
  const named = h("label", { for: id, class: isLabelHidden && "unseen" }, label);
  const element = h(
    "div", { class: ["field", isBox && "box"] }, isBox ? [input, named] : [named, input], hintLine, problemLine
  );
  return {
    element,
    input,
    get value() { return read(); },
    set value(next) { if (isBox) input.checked = Boolean(next); else input.value = next ?? ""; },
    problem(said) {
      problemLine.hidden = !said;
      problemLine.textContent = said ?? "";
      input.setAttribute("aria-invalid", String(Boolean(said)));
    },
  };
}
let fields = 0;
