"use strict";
/* A table of any length of which only the visible rows are elements. */

const ROW_HEIGHT = 22; // as `.window td` in page.css
const MOST_PIXELS = 8_000_000; // no browser makes an element higher than some tens of millions
const MARGIN_ROWS = 8;

class WindowedTable {
  /** A column has a `head`, a `width` in characters, and `cell(row)`: a text, { text, class } or an element.
   *  `onhover(index | null, event)` and `onchoose(index)` receive the number of a row in the table. */
  constructor({ columns, rowClass = () => "", onhover = () => {}, onchoose = () => {}, onscroll = () => {}, label }) {
    this.columns = columns;
    this.rowClass = rowClass;
    this.onscroll = onscroll;
    this.length = 0;
    this.above = element("tr", { class: "space" });
    this.below = element("tr", { class: "space" });
    this.body = element("tbody");
    this.table = element(
      "table",
      { "aria-label": label },
      element("colgroup", {}, columns.map((column) => this.colOf(column))),
      element("thead", {}, element("tr", {}, columns.map((column) => element("th", { scope: "col" }, column.head)))),
      this.body,
    );
    this.root = element("div", { class: "window", tabindex: "0", onscroll: () => this.draw() }, this.table);
    const rowOf = (event) => event.target.closest("tr[data-index]");
    this.body.addEventListener("mousemove", (event) => {
      const row = rowOf(event);
      onhover(row ? Number(row.dataset.index) : null, event);
    });
    this.body.addEventListener("mouseleave", (event) => onhover(null, event));
    this.body.addEventListener("click", (event) => {
      const row = rowOf(event);
      if (row && !event.target.closest("a, button")) onchoose(Number(row.dataset.index));
    });
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  colOf(column) {
    const col = element("col");
    col.style.width = `calc(${column.width}ch + 1.2rem)`;
    return col;
  }

  /** From now on the table has so many rows. */
  resize(length) {
    this.length = length;
    this.draw();
  }

  /** How many pixels a row takes when scrolling: fewer than it has where the table is very long. */
  get pixels() {
    return Math.min(ROW_HEIGHT, MOST_PIXELS / Math.max(1, this.length));
  }

  get rowsInView() {
    return Math.max(1, Math.floor((this.root.clientHeight - ROW_HEIGHT) / ROW_HEIGHT));
  }

  get firstInView() {
    return Math.min(Math.floor(this.root.scrollTop / this.pixels), Math.max(0, this.length - this.rowsInView));
  }

  /** Scroll so that a row is in view, in the middle where it was not. */
  show(index) {
    const first = this.firstInView;
    if (index < first || index >= first + this.rowsInView) {
      this.root.scrollTop = Math.max(0, index - Math.floor(this.rowsInView / 2)) * this.pixels;
    }
    this.draw();
  }

  /** Make the rows in view, and leave the space of all others empty. */
  draw() {
    const first = this.firstInView;
    const from = Math.max(0, first - MARGIN_ROWS);
    const to = Math.min(this.length, first + this.rowsInView + MARGIN_ROWS);
    const total = this.length * this.pixels;
    const made = [];
    for (let index = from; index < to; index++) made.push(this.rowOf(index));
    const drawn = made.length * ROW_HEIGHT;
    const wanted = first * this.pixels - (first - from) * ROW_HEIGHT;
    const before = Math.max(0, Math.min(wanted, total - drawn));
    this.above.style.height = `${before}px`;
    this.below.style.height = `${Math.max(0, total - before - drawn)}px`;
    this.body.replaceChildren(this.above, ...made, this.below);
    this.onscroll(first, Math.min(this.length, first + this.rowsInView));
  }

  rowOf(index) {
    const cells = this.columns.map((column) => {
      const cell = column.cell(index);
      if (cell === null || typeof cell !== "object") return element("td", {}, cell);
      return cell instanceof Node ? element("td", {}, cell) : element("td", { class: cell.class }, cell.text);
    });
    const row = element("tr", { class: this.rowClass(index) || null, "data-index": index }, cells);
    row.style.height = `${ROW_HEIGHT}px`;
    return row;
  }
}
