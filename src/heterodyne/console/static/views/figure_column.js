// A column of a table with a figure in it, which it may be sorted by.

// figureColumn("usd", "Dollars", usd, { hint: "today" })
export function figureColumn(key, title, write, more) {
  return { key, title, numeric: true, sort: true, render: (row) => write(row[key]), ...more };
}
