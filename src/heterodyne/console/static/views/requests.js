// Requests: those that finish now, and those in the books; one opens with the decision that placed it.

import { h, mount } from "../lib/dom.js";
import { hashOf, rememberIn } from "../lib/route.js";
import { tabs } from "../lib/widgets.js";
import { renderDetail } from "./request_detail.js";
import { filterForm, readFilters } from "./request_filters.js";
import { liveRequests } from "./requests_live.js";
import { storedRequests } from "./requests_stored.js";

export const view = {
  id: "requests",
  title: "Requests",
  key: "r",
  render(root, context) {
    if (context.params.id) return renderDetail(root, context);
    const state = {
      mode: context.params.mode === "stored" ? "stored" : "live",
      span: context.params.span ?? "1h",
      filters: readFilters(context.params),
    };
    const body = h("div");
    const form = filterForm(state.filters, { pools: context.live.latest?.pools ?? [], onChange: change });
    const mode = tabs({
      label: "Which requests", value: state.mode,
      items: [{ id: "live", title: "Live" }, { id: "stored", title: "Stored" }],
      onChange: (id) => { state.mode = id; remember(); show(); },
    });
    let part = null;

    // What the address says; with the id of a request, that request, and the way back to this list.
    function said(id) {
      const { mode, span, filters } = state;
      return { ...filters, mode: mode === "live" ? null : mode, span: mode === "live" ? null : span, id };
    }
    function remember() {
      rememberIn("requests", said());
    }
    function change(filters) {
      state.filters = filters;
      remember();
      part.filter(filters);
    }
    function show() {
      part?.end();
      const link = (row) => hashOf("requests", said(row.id));
      const open = (row) => context.navigate(link(row));
      part = state.mode === "live"
        ? liveRequests(context.live, state.filters, { open, link })
        : storedRequests(state, { open, link }, (span) => { state.span = span; remember(); });
      mount(body, part.element);
    }

    mount(root, h("div", { class: "view-head" }, h("h1", null, "Requests"), mode.element), form.element, body);
    show();
    return () => part.end();
  },
};
