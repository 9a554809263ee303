// What is done to a batch by hand: it is cancelled, once somebody has read what that means.

import { post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { dialog, toast } from "../lib/widgets.js";
import { answeredWords, idWords } from "./batch_words.js";

// A column with a button for each batch that can be cancelled.
export function cancelCell(onDone) {
  return {
    key: "cancel", title: "Actions", stamp: (row) => String(row.can_be_cancelled),
    render: (row) => (row.can_be_cancelled ? [button(row, onDone)] : ""),
  };
}

function button(row, onDone) {
  return h("button", {
    type: "button", class: "small danger", "aria-label": `Cancel ${idWords(row.id)}`,
    on: { click: () => openCancel(row, onDone) },
  }, "Cancel");
}

function openCancel(row, onDone) {
  dialog({
    title: `Cancel ${idWords(row.id)} of ${row.project}?`,
    leave: "Keep it",
    body: [
      h("p", null, "No further request of it is sent, and those that run are cut short. What was answered is kept and "
        + "can be read. It cannot be resumed."),
      h("p", { class: "hint" }, `Answered: ${answeredWords(row)}. `, h("code", null, row.id)),
    ],
    actions: [{ label: "Cancel the batch", tone: "danger", run: async () => {
      await post("/admin/batches/cancel", { batch: row.id });
      toast(`The batch ${idWords(row.id)} is being cancelled.`, "good");
      onDone();
    } }],
  });
}
