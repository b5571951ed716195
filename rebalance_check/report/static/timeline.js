"use strict";
/* A run: its steps, the events that each step caused, and the lanes in which something changes. */

/** The last place in sorted numbers whose number is at most `wanted`; -1 where all are greater. */
function lastAtMost(numbers, wanted) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** One lane: the rows at which its text changes, and the number of the text from each of them on. */
class Lane {
  constructor(data, timeline) {
    this.name = data.name;
    this.kind = data.kind;
    this.group = data.group;
    this.rows = summed(data.rows, data.rows.length);
    this.texts = data.texts;
    this.timeline = timeline;
  }

  /** The text after a row. */
  text(row) {
    return this.textOf(lastAtMost(this.rows, row));
  }

  /** The text of a change; "-" before the first one. */
  textOf(change) {
    return change < 0 ? "-" : this.timeline.cells[this.texts[change]];
  }

  /** How the text of a change is drawn. */
  tone(change) {
    return change < 0 ? "nothing" : this.timeline.tones[this.texts[change]];
  }

  /** Whether the text changes at a row. */
  changes(row) {
    const change = lastAtMost(this.rows, row);
    return change >= 0 && this.rows[change] === row && this.textOf(change) !== this.textOf(change - 1);
  }

  /** The rows from and to which (not including) the text of a row stands. */
  span(row) {
    const change = lastAtMost(this.rows, row);
    const from = change < 0 ? 0 : this.rows[change];
    return [from, change + 1 < this.rows.length ? this.rows[change + 1] : this.timeline.steps];
  }
}

/** The steps of a run; a row is the number of a step from 0. */
class Timeline {
  /** `templates` are those of the page. */
  constructor(data, templates) {
    this.steps = data.steps;
    this.phrases = new Phrases(data.phrases, templates);
    this.events = new Events(data.events, templates);
    this.cells = data.cells;
    this.tones = data.tones;
    this.lanes = data.lanes.map((lane) => new Lane(lane, this));
    this.groups = [...new Set(this.lanes.map((lane) => lane.group))];
    this.first = data.counts && this.firstEvents(data.counts);
  }

  /** Where the events of each row begin. */
  firstEvents(counts) {
    const first = new Uint32Array(counts.length + 1);
    counts.forEach((count, row) => (first[row + 1] = first[row] + count));
    return first;
  }

  /** The first event of a row, and that after its last one. */
  eventsOf(row) {
    return this.first ? [this.first[row], this.first[row + 1]] : [row, row + 1];
  }

  /** The clock of the first event of a row in ms; null for a row without events. */
  time(row) {
    const [from, to] = this.eventsOf(row);
    return from < to ? this.events.time(from) : null;
  }

  /** The source of the first event of a row; empty for a row without events. */
  source(row) {
    const [from, to] = this.eventsOf(row);
    return from < to ? this.events.source(from) : "";
  }

  /** The name of the lane that the first event of a row belongs to: of its source, or of whom a recorder saw. */
  laneName(row, names) {
    const source = this.source(row);
    const [from, to] = this.eventsOf(row);
    if (names.has(source) || from === to) return source;
    const { member, worker, process } = this.events.fields(from);
    return member || worker || process || "";
  }

  /** The lanes of a group. */
  lanesOf(group) {
    return this.lanes.filter((lane) => lane.group === group);
  }

  /** For each row 1 where a lane of the group changes. */
  changingRows(group) {
    const changing = new Uint8Array(this.steps);
    for (const lane of this.lanesOf(group)) for (const row of lane.rows) changing[row] = 1;
    return changing;
  }

  /** Save the history as a file. */
  save(name) {
    save(name, [...this.pieces()]);
  }

  /** The lines of the history, a few thousand at a time. */
  *pieces() {
    for (let from = 0; from < this.events.length; from += 4096) {
      let text = "";
      for (let event = from; event < Math.min(from + 4096, this.events.length); event++) {
        text += this.events.line(event) + "\n";
      }
      yield text;
    }
  }
}
