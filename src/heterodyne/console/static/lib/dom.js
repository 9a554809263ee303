// Elements without markup in strings: text is always text, so nothing from a request or a tenant can become HTML.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "path", "rect", "line", "circle", "g"]);

// h("button", { class: "quiet", "aria-label": "Close", on: { click: close } }, "×")
// props: class (text, or a list whose false members are left out), dataset, on, and any attribute; null and false leave
// an attribute out, true leaves it empty. There is no `style`: the page's policy refuses it; use el.style.setProperty.
export function h(tag, props, ...children) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) setProp(element, name, value);
  append(element, children);
  return element;
}

// Replaces what is in `parent`.
export function mount(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
  return parent;
}

// A text node; null and undefined are empty.
export function text(value) {
  return document.createTextNode(value ?? "");
}

// Writes only what differs: a page with hundreds of cells is updated every second.
export function setText(element, value) {
  const said = String(value ?? "");
  if (element.textContent !== said) element.textContent = said;
}

function setProp(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "class") element.setAttribute("class", Array.isArray(value) ? value.filter(Boolean).join(" ") : value);
  else if (name === "dataset") Object.assign(element.dataset, value);
  else if (name === "on") for (const [event, listen] of Object.entries(value)) element.addEventListener(event, listen);
  else if (name === "style") throw new TypeError("no style attributes: use el.style.setProperty");
  else element.setAttribute(name, value === true ? "" : value);
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}
