// What a view is set to, kept in the address, so that a link shows another person the same picture.

import { rememberIn } from "../lib/route.js";

// hashState("latency", { span: "1h" }, params) -> { values, set(changes) }; defaults are left out of the address.
export function hashState(id, defaults, params) {
  const values = { ...defaults, ...params };
  function set(changes) {
    Object.assign(values, changes);
    const said = Object.entries(values).filter(([name, value]) => value !== defaults[name]);
    rememberIn(id, Object.fromEntries(said));
  }
  return { values, set };
}
