// The address after the `#`: which view, and what it is set to, so that a link shows another person the same page.

// "#/fleet?pool=h100" -> { id: "fleet", params: { pool: "h100" } }
export function readHash(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { id: decodeURIComponent(path), params: Object.fromEntries(new URLSearchParams(search)) };
}

// The hash of a view; what is empty is left out.
export function hashOf(id, params = {}) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "" && value !== false) said.set(name, value);
  }
  const line = said.toString();
  return `#/${id}${line ? `?${line}` : ""}`;
}

export function writeHash(id, params) {
  location.hash = hashOf(id, params);
}

// Changes what the address says without leaving the view, or a step to go back to.
export function rememberIn(id, params) {
  history.replaceState(history.state, "", hashOf(id, params));
}
