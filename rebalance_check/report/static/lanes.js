"use strict";
/* Swimlanes: coordinator, members and partitions over the steps of a run, drawn on a canvas as far as they are in view. */

const LANE_HEIGHT = 22;
const RULER_HEIGHT = 20;
const MOST_LANES = 16; // in view; further ones are scrolled to
const NAME_WIDTH = 132;
const OWNERS = 8; // colours of members, in page.css
const MARKED_UNIT = 3; // pixels of a step from which each event has a mark

class Swimlanes {
  /** `onhover({ lane, row } | null, event)` and `onchoose(row, lane)`; `marks` are steps where claims broke, as rows. */
  constructor(timeline, { lanes, marks = [], repeatsAfter = null, onhover = () => {}, onchoose = () => {} }) {
    this.timeline = timeline;
    this.marks = marks;
    this.repeatsAfter = repeatsAfter;
    this.onhover = onhover;
    this.onchoose = onchoose;
    this.scale = new Scale(timeline.steps);
    this.window = [0, 0]; // the rows that the table shows
    this.chosen = null;
    this.matching = null; // of each row, whether the filter lets it through; null for all
    this.canvas = element("canvas", { role: "img", "aria-label": "lanes of coordinator, members and partitions" });
    this.space = element("div", {}, this.canvas);
    this.root = element("div", { class: "lanes", tabindex: "0", onscroll: () => this.draw() }, this.space);
    this.see(lanes);
    this.listen();
  }

  /** Draw these lanes from now on. */
  see(lanes) {
    this.lanes = lanes;
    const members = lanes.filter((lane) => lane.kind === "member").map((lane) => lane.name);
    this.owner = new Map(members.map((name, place) => [name, place % OWNERS]));
    this.root.style.height = `${RULER_HEIGHT + Math.min(MOST_LANES, lanes.length) * LANE_HEIGHT + 2}px`;
    this.space.style.height = `${RULER_HEIGHT + lanes.length * LANE_HEIGHT}px`;
    this.draw();
  }

  listen() {
    new ResizeObserver(() => this.draw()).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.canvas.addEventListener("mousemove", (event) => this.hover(event));
    this.canvas.addEventListener("mouseleave", (event) => this.onhover(null, event));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  /** Wheel sideways or with Shift moves, with Ctrl zooms; otherwise the page scrolls. */
  wheel(event) {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.altKey) this.scale.zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX);
    else if (sideways) this.scale.move(sideways);
    else return;
    event.preventDefault();
    this.draw();
  }

  /** Dragging moves; a click chooses a step. */
  press(event) {
    let last = event.offsetX;
    let moved = 0;
    this.canvas.setPointerCapture(event.pointerId);
    const move = (next) => {
      moved += Math.abs(next.offsetX - last);
      if (moved > 3) this.scale.move(last - next.offsetX);
      last = next.offsetX;
      this.draw();
    };
    const end = (next) => {
      this.canvas.removeEventListener("pointermove", move);
      if (moved <= 3 && next.offsetX >= NAME_WIDTH) this.onchoose(this.scale.row(next.offsetX), this.laneAt(next.offsetY));
    };
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", end, { once: true });
  }

  key(event) {
    const quarter = this.scale.width / 4;
    const actions = {
      "+": () => this.scale.zoom(0.5),
      "-": () => this.scale.zoom(2),
      0: () => this.scale.see(0, this.scale.steps),
      ArrowLeft: () => this.scale.move(-quarter),
      ArrowRight: () => this.scale.move(quarter),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    this.zoomed(actions[event.key]);
  }

  /** Do something with the scale, and draw. */
  zoomed(change) {
    change(this.scale);
    this.draw();
  }

  /** The lane at a height of the canvas; undefined on the ruler, and below the last one. */
  laneAt(y) {
    const index = Math.floor((y - RULER_HEIGHT + this.root.scrollTop) / LANE_HEIGHT);
    return y < RULER_HEIGHT ? undefined : this.lanes[index];
  }

  hover(event) {
    const lane = this.laneAt(event.offsetY);
    const outside = event.offsetX < NAME_WIDTH || !this.timeline.steps;
    this.onhover(lane && !outside ? { lane, row: this.scale.row(event.offsetX) } : null, event);
  }

  /** A step was chosen elsewhere. */
  choose(row) {
    this.chosen = row;
    this.scale.show(row);
    this.draw();
  }

  // ---------------------------------------------------------------------------------------------- drawing

  draw() {
    const width = this.root.clientWidth;
    const height = this.root.clientHeight;
    if (!width) return;
    const dots = devicePixelRatio || 1;
    this.canvas.width = width * dots;
    this.canvas.height = height * dots;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.scale.left = NAME_WIDTH;
    this.scale.width = Math.max(1, width - NAME_WIDTH - 4);
    const pen = this.canvas.getContext("2d");
    pen.scale(dots, dots);
    pen.font = "12px ui-monospace, Menlo, Consolas, monospace";
    pen.textBaseline = "middle";
    this.style = getComputedStyle(this.root);
    this.palette = new Map();
    this.drawLanes(pen, height);
    this.drawRuler(pen, width);
    this.drawMarks(pen, height);
  }

  /** A colour of page.css, which depends on the theme. */
  colour(name) {
    if (!this.palette.has(name)) this.palette.set(name, this.style.getPropertyValue(`--${name}`).trim());
    return this.palette.get(name);
  }

  drawLanes(pen, height) {
    const scrolled = this.root.scrollTop;
    const first = Math.floor(scrolled / LANE_HEIGHT);
    const last = Math.min(this.lanes.length, Math.ceil((scrolled + height) / LANE_HEIGHT));
    for (let index = first; index < last; index++) {
      const top = RULER_HEIGHT + index * LANE_HEIGHT - scrolled;
      this.drawLane(pen, this.lanes[index], top);
      pen.fillStyle = this.colour("text");
      pen.fillText(this.fittedName(pen, visible(this.lanes[index].name), NAME_WIDTH - 12), 4, top + LANE_HEIGHT / 2);
    }
    if (this.scale.unit >= MARKED_UNIT) this.drawEvents(pen, first, last, scrolled);
  }

  fittedName(pen, name, width) {
    return fitted(pen, name, width);
  }

  /** The stretches of a lane in view; what is narrower than half a pixel belongs to the stretch after it. */
  drawLane(pen, lane, top) {
    const end = this.scale.left + this.scale.width;
    let change = lastAtMost(lane.rows, this.scale.from);
    let drawn = this.scale.left;
    for (; drawn < end && change < lane.rows.length; change++) {
      const next = change + 1 < lane.rows.length ? lane.rows[change + 1] : this.timeline.steps;
      const right = Math.min(end, this.scale.x(next));
      if (right - drawn < 0.5) continue;
      this.drawStretch(pen, lane, change, drawn, right, top);
      drawn = right;
    }
  }

  drawStretch(pen, lane, change, left, right, top) {
    this.drawFilled(pen, lane, change, left, right, top);
    this.drawText(pen, lane, change, left, right, top);
  }

  drawFilled(pen, lane, change, left, right, top) {
    const fills = this.fills(lane, lane.tone(change), lane.textOf(change));
    const height = fills.thin ? 3 : LANE_HEIGHT - 4;
    const y = top + (LANE_HEIGHT - height) / 2;
    fills.colours.forEach((colour, place) => {
      pen.fillStyle = colour;
      const part = height / fills.colours.length;
      pen.fillRect(left, y + place * part, Math.max(0.5, right - left - (right - left > 3 ? 1 : 0)), part);
    });
  }

  drawText(pen, lane, change, left, right, top) {
    const text = lane.textOf(change);
    const fills = this.fills(lane, lane.tone(change), text);
    if (right - left <= 24 || fills.thin) return;
    pen.fillStyle = this.colour(fills.ink || "ink");
    pen.fillText(fitted(pen, visible(text), right - left - 8), left + 4, top + LANE_HEIGHT / 2);
  }

  /** The colours of a stretch: of a partition those of its owners, one above the other. */
  fills(lane, tone, text) {
    if (tone === "nothing") return { colours: [this.colour("nothing")], thin: true };
    if (tone !== "holds" || lane.kind === "coordinator") return { colours: [this.colour(tone)], ink: `${tone}-ink` };
    const names = lane.kind === "member" ? [lane.name] : text.split(" + ");
    return { colours: names.map((name) => this.colour(this.owner.has(name) ? `owner-${this.owner.get(name)}` : "holds")) };
  }

  /** A mark under each event of a lane. */
  drawEvents(pen, first, last, scrolled) {
    const tops = new Map();
    for (let index = first; index < last; index++) {
      if (this.lanes[index].kind !== "partition") tops.set(this.lanes[index].name, index * LANE_HEIGHT - scrolled);
    }
    pen.fillStyle = this.colour("text");
    const end = Math.min(this.timeline.steps, Math.ceil(this.scale.to));
    for (let row = Math.floor(this.scale.from); row < end; row++) {
      if (this.matching && !this.matching[row]) continue;
      const top = tops.get(this.timeline.laneName(row, tops));
      if (top === undefined) continue;
      pen.fillRect(Math.max(this.scale.left, this.scale.x(row)), RULER_HEIGHT + top + LANE_HEIGHT - 3, 2, 3);
    }
  }

  drawRuler(pen, width) {
    pen.fillStyle = this.colour("page");
    pen.fillRect(0, 0, width, RULER_HEIGHT);
    pen.fillStyle = this.colour("quiet");
    pen.fillText("step", 4, RULER_HEIGHT / 2);
    for (const step of this.scale.marks()) {
      const x = this.scale.x(step - 1);
      pen.fillRect(x, RULER_HEIGHT - 4, 1, 4);
      pen.fillText(grouped(step), x + 3, RULER_HEIGHT / 2);
    }
  }

  /** What the table shows, the step chosen, where claims broke, and what repeats for ever. */
  drawMarks(pen, height) {
    const band = (from, to, colour, least) => {
      const left = Math.max(this.scale.left, this.scale.x(from));
      const right = Math.min(this.scale.left + this.scale.width, Math.max(this.scale.x(to), left + least));
      pen.fillStyle = this.colour(colour);
      if (right > left && this.scale.x(to) >= this.scale.left) pen.fillRect(left, 0, right - left, height);
    };
    band(...this.window, "seen", 2);
    if (this.repeatsAfter !== null) band(this.repeatsAfter, this.timeline.steps, "repeats", 2);
    for (const row of this.marks) band(row, row, "violated", 2);
    if (this.chosen !== null) band(this.chosen, this.chosen, "accent", 2);
  }
}

/** The text, cut where it is wider than so many pixels. */
function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  const each = pen.measureText("m").width;
  const fits = Math.floor(width / each) - 1;
  return fits < 2 ? "" : text.slice(0, fits) + "\u2026";
}
