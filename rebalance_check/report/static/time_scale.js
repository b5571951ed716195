"use strict";
/* Wall time under lanes: a scale whose steps are milliseconds, and times as text. */

const MONOTONIC = 1e11; // smaller times are those of a recorded history, which have no date
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TICKS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 91, 365].map((count) => count * DAY),
];
const TICK_WIDTH = 110; // pixels

/** The time of day in UTC, with as much as a distance of so many milliseconds needs; a day's first mark is its date. */
function clockText(ms, distance = 1) {
  if (ms < MONOTONIC) return `${(ms / SECOND).toFixed(distance < SECOND ? 3 : 0)} s`;
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "?";
  const [day, time] = date.toISOString().slice(0, -1).split("T");
  if (distance >= DAY || (distance >= MINUTE && ms % DAY === 0)) return day;
  if (distance >= MINUTE) return time.slice(0, 5);
  return distance >= SECOND ? time.slice(0, 8) : time;
}

/** A duration as text. */
function durationText(ms) {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  return ms < 2 * HOUR ? `${(ms / MINUTE).toFixed(1)} min` : `${(ms / HOUR).toFixed(1)} h`;
}

/** A `Scale` of milliseconds since `begin`. */
class TimeScale extends Scale {
  constructor(begin, length) {
    super(length);
    this.begin = begin;
  }

  /** The distance of two marks. */
  get every() {
    const least = TICK_WIDTH / this.unit;
    return TICKS.find((tick) => tick >= least) || TICKS[TICKS.length - 1];
  }

  /** Milliseconds since the begin at which the ruler has a mark: whole ones of the clock. */
  marks() {
    const { begin, every } = this;
    const marks = [];
    const last = begin + this.to;
    for (let at = Math.ceil((begin + this.from) / every) * every; at <= last; at += every) marks.push(at - begin);
    return marks;
  }
}
