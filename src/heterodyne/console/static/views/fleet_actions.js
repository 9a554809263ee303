// Changes to the fleet: each says what will happen before it does, and what came of it after.

import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { dialog, field, toast } from "../lib/widgets.js";

// What happens to one replica, and to all of a pool.
const CHANGES = {
  drain: {
    title: "Drain",
    tone: "primary",
    one: [
      "It is given no new requests, and answers that have begun are finished.",
      "It stays drained until it is undrained.",
    ],
    all: [
      "They are given no new requests, and answers that have begun are finished.",
      "They stay drained until undrained.",
    ],
  },
  undrain: {
    title: "Undrain",
    tone: "primary",
    one: ["It may take requests again at once."],
    all: ["They may take requests again at once."],
  },
  restart: {
    title: "Restart",
    tone: "danger",
    one: ["Its process is restarted when its last answer is complete."],
    all: ["Their processes are restarted one after the other, each when its last answer is complete."],
  },
  remove: {
    title: "Remove",
    tone: "danger",
    one: [
      "It is given no new requests and leaves the fleet when its last answer is complete.",
      "If the settings name it, the next reload brings it back.",
    ],
    all: [
      "They are given no new requests and leave the fleet when their last answers are complete.",
      "Those that the settings name come back with the next reload.",
    ],
  },
};

// selection: { pool } or { replica }
export function openChange(name, selection) {
  const change = CHANGES[name];
  dialog({
    title: `${change.title} ${selection.replica ?? `all replicas of ${selection.pool}`}?`,
    body: h("p", null, (selection.replica ? change.one : change.all).join(" ")),
    actions: [
      {
        label: change.title,
        tone: change.tone,
        run: async () => tell(change.title, await post(`/admin/fleet/${name}`, selection)),
      },
    ],
  });
}

export function openAdd(pool) {
  const url = field({
    label: "URL of the engine",
    name: "url",
    type: "url",
    required: true,
    placeholder: "http://10.0.0.7:8000",
    spellcheck: "false",
  });
  dialog({
    title: `Add a replica to ${pool}`,
    body: [
      h("p", null, "An engine that already runs and serves the pool's model."),
      h("p", null, "It takes requests once it has answered a health check, and stays until the next reload."),
      url.element,
    ],
    actions: [{ label: "Add", tone: "primary", run: async () => {
      tell("Add", await post("/admin/fleet/add", { pool, url: url.value.trim() }));
    } }],
  });
  url.input.focus();
}

function tell(title, changed) {
  const late = changed.is_applied ? "" : " Some worker has not confirmed it yet.";
  const note = changed.note ? ` ${changed.note}` : "";
  toast(`${title}: ${changed.replicas.join(", ")}.${note}${late}`, changed.is_applied ? "good" : "warn");
}
