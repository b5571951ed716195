"use strict";
/* Lanes over wall time: generations, members and owners of a group, as report/diagnosis/stretches.py hands them over. */

const LEAST_PIXELS = 2; // of a short stretch that must be seen
const NEAR_PIXELS = 5; // of the pointer
const APART_PIXELS = 3; // of the ticks of marks

/** One lane: where its stretches begin in ms, and what is known of each. */
class TimeLane {
  constructor(data, timeline) {
    this.name = data.name;
    this.kind = data.kind;
    this.rows = summed(data.rows, data.rows.length);
    this.data = data;
    this.timeline = timeline;
    this.marks = summed(data.marks.rows, data.marks.rows.length);
  }

  /** The number of the stretch at a time; -1 before the first. */
  at(ms) {
    return lastAtMost(this.rows, ms);
  }

  textOf(change) {
    return change < 0 ? "" : this.timeline.cells[this.data.texts[change]];
  }

  detailOf(change) {
    return change < 0 ? "" : this.timeline.cells[this.data.details[change]];
  }

  tone(change) {
    return change < 0 ? NO_TONE : this.timeline.tones[this.data.tones[change]];
  }

  linesOf(change) {
    return change < 0 ? [] : this.data.lines[change];
  }

  /** From and to when the stretch is. */
  span(change) {
    const from = change < 0 ? 0 : this.rows[change];
    return [from, change + 1 < this.rows.length ? this.rows[change + 1] : this.timeline.steps];
  }

  /** The numbers of the marks within so many milliseconds of a time. */
  marksNear(ms, distance) {
    const near = [];
    for (let mark = lastAtMost(this.marks, ms - distance) + 1; mark < this.marks.length && this.marks[mark] <= ms + distance; mark++) {
      near.push(mark);
    }
    return near;
  }

  markText(mark) {
    return this.timeline.cells[this.data.marks.texts[mark]];
  }

  markLine(mark) {
    return this.data.marks.lines[mark];
  }
}

const NO_TONE = { colours: [], shade: 100, narrow: false, end: "" };

/** The time of a group; a step is a millisecond. */
class TimeLine {
  constructor(data) {
    this.begin = data.begin;
    this.steps = data.length;
    this.cells = data.cells;
    this.tones = data.tones;
    this.lanes = data.lanes.map((lane) => new TimeLane(lane, this));
  }
}

class TimeLanes extends Swimlanes {
  constructor(timeline, options) {
    super(timeline, { lanes: timeline.lanes, ...options });
    this.scale = new TimeScale(timeline.begin, timeline.steps);
    this.faults = options.faults; // when they began
    this.window = [-1, -1]; // when the finding is that was chosen
    this.canvas.setAttribute("aria-label", "lanes of generations, members and partitions over time");
  }

  /** See a stretch of time with as much around it, and mark it. */
  focus(from, to) {
    const around = Math.max(to - from, 2 * SECOND);
    const length = Math.min(this.timeline.steps, to - from + 2 * around);
    this.window = [from, to];
    this.scale.see((from + to - length) / 2, length);
    this.draw();
  }

  /** How many milliseconds so many pixels are. */
  get near() {
    return NEAR_PIXELS / this.scale.unit;
  }

  drawLane(pen, lane, top) {
    super.drawLane(pen, lane, top);
    this.drawNarrow(pen, lane, top);
    this.drawLaneMarks(pen, lane, top);
  }

  /** Names of partitions differ at their end: a long one is cut in its middle. */
  fittedName(pen, name, width) {
    const most = Math.floor(width / pen.measureText("m").width);
    if (name.length <= most) return name;
    const tail = Math.floor((most - 1) / 2);
    return `${name.slice(0, most - 1 - tail)}\u2026${name.slice(-tail)}`;
  }

  fills(lane, tone) {
    if (!tone.colours.length) return { colours: [this.colour("nothing")], thin: true };
    return { colours: tone.colours.map((name) => this.colour(name)) };
  }

  drawStretch(pen, lane, change, left, right, top) {
    const tone = lane.tone(change);
    if (tone.shade < 100) {
      pen.fillStyle = this.colour("page");
      pen.fillRect(left, top + 2, right - left, LANE_HEIGHT - 4);
    }
    pen.globalAlpha = tone.shade / 100;
    this.drawFilled(pen, lane, change, left, right, top);
    pen.globalAlpha = 1;
    this.drawText(pen, lane, change, left, right, top);
    if (tone.end && right - left > 4 && lane.span(change)[1] <= this.scale.to) {
      pen.fillStyle = this.colour(tone.end);
      pen.fillRect(right - 4, top + 2, 3, LANE_HEIGHT - 4);
    }
  }

  /** What is too short to be seen, and must be: each as wide as it needs, and not two on one pixel. */
  drawNarrow(pen, lane, top) {
    const { scale } = this;
    let last = -Infinity;
    for (let change = Math.max(0, lane.at(scale.from)); change < lane.rows.length; change++) {
      const [from, to] = lane.span(change);
      const left = scale.x(from);
      if (left > scale.left + scale.width) return;
      const tone = lane.tone(change);
      if (!tone.narrow || left < scale.left || left - last < 1 || scale.x(to) - left >= LEAST_PIXELS) continue;
      last = left;
      const part = (LANE_HEIGHT - 4) / tone.colours.length;
      tone.colours.forEach((name, place) => {
        pen.fillStyle = this.colour(name);
        pen.fillRect(left, top + 2 + place * part, LEAST_PIXELS, part);
      });
    }
  }

  /** A tick for each mark of a lane. */
  drawLaneMarks(pen, lane, top) {
    const { scale } = this;
    let last = -Infinity;
    pen.fillStyle = this.colour("quiet");
    for (let mark = lastAtMost(lane.marks, scale.from) + 1; mark < lane.marks.length && lane.marks[mark] <= scale.to; mark++) {
      const x = scale.x(lane.marks[mark]);
      if (x - last < APART_PIXELS) continue;
      last = x;
      pen.fillRect(x, top + LANE_HEIGHT - 5, 1.5, 4);
    }
  }

  drawEvents() {} // the marks of a lane stand in its place

  drawRuler(pen, width) {
    pen.fillStyle = this.colour("page");
    pen.fillRect(0, 0, width, RULER_HEIGHT);
    pen.fillStyle = this.colour("quiet");
    pen.fillText(this.timeline.begin < MONOTONIC ? "" : "UTC", 4, RULER_HEIGHT / 2);
    const { every, begin } = this.scale;
    for (const ms of this.scale.marks()) {
      const x = this.scale.x(ms);
      pen.fillRect(x, RULER_HEIGHT - 4, 1, 4);
      pen.fillText(clockText(begin + ms, every), x + 3, RULER_HEIGHT / 2);
    }
    pen.fillStyle = this.colour("violated");
    for (const ms of this.faults) {
      if (ms >= this.scale.from && ms <= this.scale.to) pen.fillRect(this.scale.x(ms), 0, 2, 6);
    }
  }
}
