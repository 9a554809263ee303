// The keyboard, where nobody is typing: `g` and a view's key or its digit, `/` for search, `?` for help, Esc to close.

const CHORD_MS = 1200;

export function listenForKeys({ views, isIn, onView, onHelp, onLeave }) {
  let chordUntil = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !isIn()) return;
    if (event.key === "Escape") return leave(onLeave);
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const isChord = event.timeStamp < chordUntil; // when it was pressed: a busy page hears of it later
    chordUntil = 0;
    if (event.key === "g") {
      chordUntil = event.timeStamp + CHORD_MS;
      return;
    }
    const view = isChord ? views.find((one) => one.key === event.key) : views[indexOf(event.key)];
    if (view) onView(view.id);
    else if (event.key === "/") focusSearch();
    else if (event.key === "?") onHelp();
    else if (["j", "k"].includes(event.key)) focusRow();
    else return;
    event.preventDefault();
  });
}

// "1" is the first and "0" the tenth; of any other key there is none.
function indexOf(key) {
  return /^[0-9]$/.test(key) ? (Number(key) + 9) % 10 : -1;
}

function leave(onLeave) {
  if (isTyping(document.activeElement)) document.activeElement.blur();
  onLeave();
}

function focusSearch() {
  document.querySelector('main input[type="search"], main [data-search] input')?.focus();
}

// The first table's current row; from there the table itself listens.
function focusRow() {
  document.querySelector('main tbody tr[tabindex="0"]')?.focus();
}

function isTyping(element) {
  return element.isContentEditable || ["TEXTAREA", "SELECT"].includes(element.tagName)
    || (element.tagName === "INPUT" && !["checkbox", "radio", "button"].includes(element.type));
}
