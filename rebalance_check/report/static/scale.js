"use strict";
/* Which steps the lanes show, and where: zooming and moving along a run. */

const FEWEST_STEPS = 8; // in view when zoomed in as far as it goes

/** A stretch of steps, `from` to `to` (not whole numbers), drawn on `left` to `left + width` pixels. */
class Scale {
  constructor(steps) {
    this.steps = Math.max(1, steps);
    this.from = 0;
    this.to = this.steps;
    this.left = 0;
    this.width = 1;
  }

  /** Pixels of one step. */
  get unit() {
    return this.width / (this.to - this.from);
  }

  x(step) {
    return this.left + (step - this.from) * this.unit;
  }

  /** The row at a pixel. */
  row(x) {
    const row = Math.floor(this.from + (x - this.left) / this.unit);
    return Math.max(0, Math.min(this.steps - 1, row));
  }

  /** See `factor` times as many steps; what is at pixel `x` stays there. */
  zoom(factor, x = this.left + this.width / 2) {
    const at = this.from + (x - this.left) / this.unit;
    const least = Math.min(FEWEST_STEPS, this.steps);
    const length = Math.max(least, Math.min(this.steps, (this.to - this.from) * factor));
    this.see(at - ((x - this.left) / this.width) * length, length);
  }

  /** Move by pixels. */
  move(pixels) {
    this.see(this.from + pixels / this.unit, this.to - this.from);
  }

  /** See `length` steps from `from` on, as far as there are. */
  see(from, length) {
    this.from = Math.max(0, Math.min(this.steps - length, from));
    this.to = this.from + length;
  }

  /** Bring a row into view. */
  show(row) {
    const length = this.to - this.from;
    if (row < this.from || row >= this.to) this.see(row - length / 2, length);
  }

  /** Rows at which the ruler has a mark, as far apart as their numbers need. */
  marks() {
    const least = 80 / this.unit;
    const size = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    const every = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= least) || 10 * size;
    const marks = [];
    for (let step = Math.max(1, Math.ceil((this.from + 1) / every) * every); step <= this.to; step += every) marks.push(step);
    return marks;
  }
}
