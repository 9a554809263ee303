// Playground: one prompt to as many as four models or pools side by side, each with where it went, why, and how fast.

import { h, mount } from "../lib/dom.js";
import { rememberIn } from "../lib/route.js";
import { field } from "../lib/widgets.js";
import { chatColumn } from "./playground_column.js";

const COLUMNS_MAX = 4;
const MAX_TOKENS = 256;

// Conversations of the view when it was left, in this page alone: prompts are nobody else's and are stored nowhere.
let left = { columns: [], prompt: "", system: "" };

export const view = {
  id: "playground",
  title: "Playground",
  key: "p",
  render(root, context) {
    const columns = [];
    const shelf = h("div", { class: "columns" });
    const prompt = field({
      label: "Prompt",
      name: "prompt",
      type: "textarea",
      rows: 3,
      required: true,
      placeholder: "Ask something. Enter sends, Shift and Enter begin a new line.",
    });
    const system = field({
      label: "System prompt", name: "system", type: "text", placeholder: "none", autocomplete: "off",
    });
    const length = field({
      label: "Tokens at most",
      name: "max_tokens",
      type: "number",
      min: 1,
      max: 32768,
      value: context.params.max_tokens ?? MAX_TOKENS,
    });
    const warmth = field({
      label: "Temperature",
      name: "temperature",
      type: "number",
      min: 0,
      max: 2,
      step: 0.1,
      placeholder: "default",
      value: context.params.temperature,
    });
    const send = h("button", { type: "submit", class: "primary" }, "Send");
    const stop = h(
      "button",
      { type: "button", hidden: true, on: { click: () => columns.forEach((column) => column.stop()) } },
      "Stop",
    );
    const add = h("button", { type: "button", on: { click: () => { addColumn(""); remember(); } } }, "Add a column");
    const clear = h(
      "button",
      { type: "button", class: "quiet", on: { click: () => columns.forEach((column) => column.clear()) } },
      "Clear",
    );
    const form = h("form", { class: "prompt-form", on: { submit: ask } }, prompt.element,
      h("div", { class: "fields" }, length.element, warmth.element, system.element),
      h("div", { class: "fields" }, send, stop, add, clear));

    async function ask(event) {
      event?.preventDefault();
      const said = prompt.value.trim();
      if (!said || !form.reportValidity() || send.disabled) return;
      const wish = {
        max_tokens: Number(length.value) || MAX_TOKENS,
        temperature: warmth.value === "" ? null : Number(warmth.value),
        system: system.value.trim(),
      };
      remember();
      prompt.input.select(); // what is typed next takes its place
      setBusy(true);
      await Promise.all(columns.map((column) => column.ask(said, wish)));
      setBusy(false);
    }

    function setBusy(isBusy) {
      send.disabled = isBusy;
      stop.hidden = !isBusy;
    }

    function addColumn(target, kept) {
      const column = chatColumn({
        target,
        kept,
        place: columns.length,
        onTarget: remember,
        onClose: () => {
          column.stop();
          column.element.remove();
          columns.splice(columns.indexOf(column), 1);
          settle();
          remember();
        },
      });
      columns.push(column);
      shelf.append(column.element);
      if (context.live.latest) column.offer(context.live.latest.pools);
      settle();
    }

    function settle() {
      add.disabled = columns.length >= COLUMNS_MAX;
      for (const column of columns) column.setAlone(columns.length === 1);
    }

    function remember() {
      const on = columns.map((column) => column.target).join(" ");
      rememberIn(
        "playground",
        { on, max_tokens: Number(length.value) === MAX_TOKENS ? null : length.value, temperature: warmth.value },
      );
    }

    prompt.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) ask(event);
    });
    mount(root, h("div", { class: "view-head" }, h("h1", null, "Playground")), form, shelf);
    const wanted = (context.params.on ?? "").split(" ").filter(Boolean).slice(0, COLUMNS_MAX);
    const before = left.columns;
    const targets = wanted.length ? wanted : before.length ? before.map((kept) => kept.target) : ["", ""];
    for (const target of targets) {
      const kept = before.find((one) => one.target === target);
      if (kept) before.splice(before.indexOf(kept), 1);
      addColumn(target, kept);
    }
    prompt.value = left.prompt;
    system.value = left.system;
    if (!context.canChange) {
      for (const control of form.elements) control.disabled = true;
      form.prepend(
        h(
          "p",
          { class: "hint" },
          "An answer takes a replica's time, so the playground is for operators. You are signed in to look.",
        )
      );
    }
    const end = context.live.subscribe((page) => columns.forEach((column) => column.offer(page.pools)));
    return () => {
      end();
      left = { columns: columns.map((column) => column.giveUp()), prompt: prompt.value, system: system.value };
    };
  },
};
