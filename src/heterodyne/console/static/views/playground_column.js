// One column of the playground: a target, a conversation with it, and what was measured here in the browser.

import { postEvents } from "../lib/event_stream.js";
import { h, mount, setText } from "../lib/dom.js";
import { count, ms, rate } from "../lib/format.js";

let columns = 0;

// `place` is the column's own: without a target the first takes the first on offer, the second the second.
// A target is "model" or "model@pool" in the address.
// -> { element, target, offer(pools), ask(prompt, wish), giveUp(), stop(), clear(), setAlone(isAlone) }
// `kept` is what an earlier column of the same target gave up: { target, messages, turns }.
export function chatColumn({ target, place: first, onTarget, onClose, kept }) {
  const id = `target-${(columns += 1)}`;
  const select = h("select", { id, on: { change: () => { chosen = select.value; onTarget(); } } });
  const close = h(
    "button", { type: "button", class: "quiet small", "aria-label": "Close this column", on: { click: onClose } }, "×"
  );
  const turns = kept?.turns ?? h("div", { class: "turns" });
  const element = h("section", { class: "column", "aria-label": `Conversation ${columns}` },
    h(
      "div",
      { class: "column-head" },
      h("div", { class: "field" }, h("label", { for: id }, "Model or pool"), select),
      close,
    ), turns);
  let chosen = target;
  let offered = "";
  let messages = kept?.messages ?? [];
  let abort = null;

  function offer(all) {
    const pools = all.filter((row) => row.purpose === null || row.purpose === "generate");
    const models = [...new Set(pools.map((row) => row.model))].sort();
    const stamp = pools.map((row) => `${row.model}@${row.pool}`).sort().join("\n");
    if (stamp === offered) return;
    offered = stamp;
    mount(select, models.map((model) => h("optgroup", { label: model },
      h("option", { value: model }, `${model}, by policy`),
      pools.filter((row) => row.model === model).map(
        (row) => h("option", { value: `${model}@${row.pool}` }, `${model} on ${row.pool}`)
      ))));
    const values = [...select.options].map((option) => option.value);
    if (!values.includes(chosen)) chosen = values[first % Math.max(1, values.length)] ?? "";
    select.value = chosen;
  }

  async function ask(prompt, { system, max_tokens, temperature }) {
    const at = chosen.lastIndexOf("@");
    const [model, pool] = at < 0 ? [chosen, null] : [chosen.slice(0, at), chosen.slice(at + 1)];
    messages.push({ role: "user", content: prompt });
    const turn = answerTurn();
    turns.append(h("div", { class: "turn", dataset: { role: "user" } }, prompt), turn.element);
    const body = {
      model,
      pool,
      max_tokens,
      temperature,
      messages: system ? [{ role: "system", content: system }, ...messages] : messages,
    };
    abort = new AbortController();
    try {
      await postEvents("/admin/playground", body, { signal: abort.signal, onEvent: turn.take });
      turn.end(null);
    } catch (error) {
      turn.end(error.name === "AbortError" ? "Stopped." : error.message);
    }
    abort = null;
    if (turn.said) messages.push({ role: "assistant", content: turn.said });
    else messages.pop(); // what nobody answered is not part of the conversation
  }

  return {
    element,
    get target() { return chosen; },
    offer,
    ask,
    // The conversation, for whoever comes back to the view.
    giveUp() {
      abort?.abort();
      return { target: chosen, messages, turns };
    },
    stop: () => abort?.abort(),
    clear() {
      abort?.abort();
      messages = [];
      mount(turns);
    },
    setAlone: (isAlone) => { close.hidden = isAlone; },
  };
}

// One answer as it comes.
function answerTurn() {
  const thought = h("div", { class: "thought", hidden: true });
  const answer = document.createTextNode("");
  const where = h("div", { class: "placed" }, h("p", null, "Asked…"));
  const measured = h("p");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const element = h(
    "div", null, h("div", { class: "turn", dataset: { role: "assistant" } }, thought, answer), problem, where
  );
  const startedAt = performance.now();
  let firstAt = null;
  let lastAt = null;
  let pieces = 0;
  let usage = null;

  function take({ name, data }) {
    if (name === "placed") return place(JSON.parse(data));
    if (data === "[DONE]") return;
    const event = JSON.parse(data);
    if (event.error) return fail(event.error.message);
    usage = event.usage ?? usage;
    const delta = event.choices?.[0]?.delta;
    const reasoning = delta?.reasoning_content ?? delta?.reasoning;
    if (!delta?.content && !reasoning) return;
    lastAt = performance.now();
    firstAt ??= lastAt;
    pieces += 1;
    if (reasoning) {
      thought.hidden = false;
      thought.append(reasoning);
    }
    if (delta.content) answer.appendData(delta.content);
    measure();
  }

  function place(placed) {
    mount(where,
      placed.pool ? h(
        "p", null, "Went to ", h("strong", null, placed.replica || placed.pool), ` in pool ${placed.pool}`
      ) : !placed.steps.length && h("p", null, "It was not placed."),
      placed.steps.map((step) => h("p", null, step)),
      placed.decision && h("p", null, placed.decision),
      measured,
      placed.request_id && h(
        "p", null, h("a", { href: `#/requests?id=${encodeURIComponent(placed.request_id)}` }, "Why it went there")
      ));
  }

  function measure() {
    const words = [`TTFT ${ms(firstAt - startedAt)}`];
    const made = usage?.completion_tokens ?? pieces;
    if (made > 1 && lastAt > firstAt) words.push(rate(((made - 1) * 1000) / (lastAt - firstAt), "tokens/s"));
    words.push(`${count(made)} tokens, as measured here`);
    setText(measured, words.join(" · "));
  }

  function fail(message) {
    problem.hidden = false;
    setText(problem, message);
  }

  return {
    element,
    take,
    get said() { return answer.data; },
    end(message) {
      if (message) fail(message);
      if (firstAt !== null) measure();
      else if (!where.contains(measured)) mount(where);
    },
  };
}
