// A table that is updated in place, sorted by its headers, walked with the keyboard, and read as cards on a phone.

import { h, mount } from "./dom.js";

// {
//   caption,            // read out, not shown, unless `isCaptionShown`
// columns: [{ key, title, numeric, render(row) -> text or Node, sort: true | (row) -> value, stamp(row) -> text, hint
// }],
//   rows, rowKey(row), onOpen(row), empty,
//   rowsMax,            // of the sorted rows, so many are shown
//   sortBy: "key" or "-key",       // at first; absent: as the rows come
//   onSort(sortBy), rowClass(row),
// } -> { element, update(rows), focus() }
// A cell is written again when its text differs; one that renders a Node, when its `stamp` differs, or always without
// one.
export function table(options) {
  const { columns, rowKey = (row) => row.id, onOpen, empty = "Nothing here yet." } = options;
  const body = h("tbody", { role: "rowgroup" });
  const headers = new Map();
  const nothing = h("p", { class: "empty" }, empty);
  const grid = h("table", { role: "table", class: ["table", onOpen && "opens"] },
    h("caption", { class: options.isCaptionShown ? null : "unseen" }, options.caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map(header))), body);
  const element = h("div", { class: "table-frame" }, grid, nothing);
  const lines = new Map(); // row key -> { line, cells, row }
  let rows = [];
  let sortBy = options.sortBy ?? null;

  function header(column) {
    const content = column.sort
      ? h("button", { type: "button", class: "sorter", on: { click: () => sortOn(column) } }, column.title)
      : column.title;
    const cell = h(
      "th", { role: "columnheader", scope: "col", class: column.numeric && "numeric", title: column.hint }, content
    );
    headers.set(column.key, cell);
    return cell;
  }

  function sortOn(column) {
    const first = column.numeric ? `-${column.key}` : column.key;
    const second = column.numeric ? column.key : `-${column.key}`;
    sortBy = sortBy === first ? second : first;
    options.onSort?.(sortBy);
    draw();
  }

  function sorted() {
    for (const [key, cell] of headers) {
      if (sortBy === key) cell.setAttribute("aria-sort", "ascending");
      else if (sortBy === `-${key}`) cell.setAttribute("aria-sort", "descending");
      else cell.removeAttribute("aria-sort");
    }
    const column = sortBy && columns.find((one) => one.key === sortBy.replace(/^-/, ""));
    if (!column) return rows;
    const value = typeof column.sort === "function" ? column.sort : (row) => row[column.key];
    const direction = sortBy.startsWith("-") ? -1 : 1;
    return [...rows].sort((left, right) => compare(value(left), value(right), direction));
  }

  function draw() {
    const wanted = sorted().slice(0, options.rowsMax);
    const keys = new Set();
    let at = body.firstElementChild;
    for (const row of wanted) {
      const key = String(rowKey(row));
      if (keys.has(key)) continue;
      keys.add(key);
      const kept = lines.get(key) ?? add(key, row);
      write(kept, row);
      if (kept.line === at) at = at.nextElementSibling;
      else body.insertBefore(kept.line, at);
    }
    for (const [key, kept] of lines) {
      if (keys.has(key)) continue;
      kept.line.remove();
      lines.delete(key);
    }
    if (!body.querySelector('[tabindex="0"]')) body.firstElementChild?.setAttribute("tabindex", "0");
    nothing.hidden = wanted.length > 0;
    grid.hidden = wanted.length === 0;
  }

  function add(key, row) {
    const cells = columns.map(
      (column) => h("td", { role: "cell", class: column.numeric && "numeric", dataset: { title: column.title } })
    );
    const line = h("tr", { role: "row", tabindex: "-1", dataset: { key } }, cells);
    const kept = { line, cells, row, said: [] };
    lines.set(key, kept);
    return kept;
  }

  function write(kept, row) {
    kept.row = row;
    if (options.rowClass) kept.line.className = options.rowClass(row) ?? "";
    columns.forEach((column, index) => {
      const stamp = column.stamp?.(row);
      if (stamp !== undefined && stamp === kept.said[index]) return;
      const value = column.render ? column.render(row) : row[column.key] ?? "–";
      if (!(value instanceof Node) && !Array.isArray(value)) {
        if (kept.said[index] === value) return;
        kept.said[index] = value;
        kept.cells[index].textContent = value;
        return;
      }
      kept.said[index] = stamp;
      mount(kept.cells[index], value);
    });
  }

  function goTo(line) {
    if (!line) return;
    body.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    line.setAttribute("tabindex", "0");
    line.focus();
    line.scrollIntoView({ block: "nearest" });
  }

  body.addEventListener("keydown", (event) => {
    const line = event.target.closest("tr");
    if (event.target !== line || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = {
      ArrowDown: () => goTo(line.nextElementSibling), j: () => goTo(line.nextElementSibling),
      ArrowUp: () => goTo(line.previousElementSibling), k: () => goTo(line.previousElementSibling),
      Home: () => goTo(body.firstElementChild), End: () => goTo(body.lastElementChild),
      Enter: () => onOpen?.(lines.get(line.dataset.key).row),
    }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    step();
  });
  body.addEventListener("click", (event) => {
    const line = event.target.closest("tr");
    if (!line || event.target.closest("a, button, input, summary")) return;
    if (String(getSelection())) return; // somebody is copying a figure
    goTo(line);
    onOpen?.(lines.get(line.dataset.key).row);
  });

  const made = {
    element,
    update(newRows) {
      rows = newRows;
      draw();
    },
    focus: () => goTo(body.querySelector('[tabindex="0"]')),
  };
  made.update(options.rows ?? []);
  return made;
}

// What is not known comes last, whichever way it is sorted.
function compare(left, right, direction) {
  const [isLeftKnown, isRightKnown] = [left, right].map(
    (value) => value !== null && value !== undefined && value !== ""
  );
  if (!isLeftKnown || !isRightKnown) return Number(isRightKnown) - Number(isLeftKnown);
  if (typeof left === "number" && typeof right === "number") return (left - right) * direction;
  return String(left).localeCompare(String(right), "en", { numeric: true }) * direction;
}
