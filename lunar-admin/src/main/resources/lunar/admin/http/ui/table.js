// Tables whose rows are updated in place, and sorted by a column on request.

import { count, element, foreign, setText } from "./format.js";

const MAX_ROWS = 200;

/**
 * A table of objects. A column has a label and either text(row) or render(cell, row); value(row), by which it is sorted;
 * isNumber; isRate if it needs more room; isWide if it is for wide windows only. The first column is the header of its
 * row. Narrow windows show each row as a card, so that roles are set: "display" would remove them in some browsers.
 */
export class Table {
  #columns;
  #keyOf;
  #body = element("tbody");
  #note = element("p", "dim note");
  #heads = [];
  #rows = new Map();
  #latest = [];
  #sorted = null;

  constructor(place, caption, columns, keyOf) {
    this.#columns = columns;
    this.#keyOf = keyOf;
    const line = role(element("tr"), "row");
    columns.forEach((column, i) => line.append(this.#head(column, i)));
    this.#body.setAttribute("role", "rowgroup");
    const table = role(element("table", "", element("caption", "unseen", caption),
      role(element("thead", "", line), "rowgroup"), this.#body), "table");
    const scroll = role(element("div", "scroll", table), "region");
    scroll.tabIndex = 0;
    scroll.setAttribute("aria-label", caption);
    place.append(scroll, this.#note);
  }

  #head(column, index) {
    const button = element("button", "sort", column.label);
    button.type = "button";
    button.addEventListener("click", () => this.#sortBy(index));
    const head = role(element("th", classOf(column), button), "columnheader");
    head.scope = "col";
    this.#heads.push(head);
    return head;
  }

  /** Sorts by a column: numbers in descending order first; a third click restores the order of the server. */
  #sortBy(index) {
    const first = this.#columns[index].isNumber ? -1 : 1;
    const { index: current, sign } = this.#sorted ?? {};
    this.#sorted = current !== index ? { index, sign: first }
      : sign === first ? { index, sign: -first } : null;
    this.#heads.forEach((head, i) => {
      if (this.#sorted?.index === i) {
        head.setAttribute("aria-sort", this.#sorted.sign > 0 ? "ascending" : "descending");
      } else {
        head.removeAttribute("aria-sort");
      }
    });
    this.update(this.#latest);
  }

  /** Hides a column or shows it again. */
  show(label, isShown) {
    const index = this.#columns.findIndex((column) => column.label === label);
    if (this.#columns[index].isHidden !== !isShown) {
      this.#columns[index].isHidden = !isShown;
      this.#heads[index].hidden = !isShown;
      this.#rows.forEach((row) => { row.cells[index].hidden = !isShown; });
    }
  }

  update(objects) {
    this.#latest = objects;
    const shown = this.#inOrder(objects).slice(0, MAX_ROWS);
    const rows = new Map();
    for (const object of shown) {
      const key = this.#keyOf(object);
      const row = this.#rows.get(key) ?? this.#row();
      this.#columns.forEach((column, i) => fill(row.cells[i], column, object));
      rows.set(key, row);
    }
    this.#rows.forEach((row, key) => rows.has(key) || row.remove());
    this.#rows = rows;
    let at = this.#body.firstChild;
    for (const row of rows.values()) {
      if (row === at) {
        at = at.nextSibling;
      } else {
        this.#body.insertBefore(row, at);
      }
    }
    const hidden = objects.length - shown.length;
    setText(this.#note, objects.length === 0 ? "None"
      : hidden > 0 ? `and ${count(hidden)} more` : "");
    this.#note.hidden = objects.length > 0 && hidden <= 0;
  }

  #inOrder(objects) {
    if (this.#sorted === null) {
      return objects;
    }
    const { index, sign } = this.#sorted;
    const value = this.#columns[index].value;
    return objects.toSorted((a, b) => {
      const [one, other] = [value(a) ?? -1, value(b) ?? -1];
      return sign * (one < other ? -1 : one > other ? 1 : 0);
    });
  }

  #row() {
    const row = role(element("tr"), "row");
    this.#columns.forEach((column, i) => {
      const cell = role(element(i === 0 ? "th" : "td", classOf(column)),
        i === 0 ? "rowheader" : "cell");
      if (i === 0) {
        cell.scope = "row";
      }
      cell.dataset.label = column.label;
      cell.hidden = Boolean(column.isHidden);
      row.append(cell);
    });
    return row;
  }
}

function classOf(column) {
  return [column.isNumber ? "number" : "", column.isRate ? "rate" : "", column.isWide ? "wide" : ""]
    .filter(Boolean).join(" ");
}

function role(target, name) {
  target.setAttribute("role", name);
  return target;
}

function fill(cell, column, object) {
  if (column.render) {
    column.render(cell, object);
    return;
  }
  if (cell.firstChild === null) {
    cell.append(foreign(""));
  }
  setText(cell.firstChild, String(column.text(object)));
}
