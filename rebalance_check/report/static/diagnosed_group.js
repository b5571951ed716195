"use strict";
/* One group of a diagnosis: its lanes, the log lines of what was clicked, and the table of its rebalances. */

const MOST_TABLE_ROWS = 20; // in view; further ones are scrolled to
const COLUMN_WIDTHS = [23, 8, 10, 12, 7, 100]; // characters, of time, generation, duration, members, moved, cause

class DiagnosedGroup {
  /** `data` is what the page says of the group, `lines` the log lines of the page. */
  constructor(data, lines) {
    this.data = data;
    this.lines = lines;
    this.timeline = new TimeLine(data);
    this.tooltip = new Tooltip();
    this.lanes = new TimeLanes(this.timeline, {
      faults: data.faults,
      onhover: (at, event) => this.hover(at, event),
      onchoose: (ms, lane) => this.choose(ms, lane),
    });
    this.said = element("div", { class: "said", "aria-live": "polite" }, this.hint());
    this.count = element("output", { class: "count" });
    this.table = this.makeTable();
    this.root = element(
      "div",
      {},
      data.notes.map((note) => element("p", { class: "quiet" }, note)),
      this.toolbar(),
      this.lanes.root,
      this.said,
      this.table.root,
      this.tooltip.root,
    );
    this.filter("");
    this.table.resize(data.rows.cells.length);
  }

  hint() {
    return element("p", { class: "quiet" }, "Click a lane or a row for the log lines that say it. Drag to move, Ctrl and wheel to zoom.");
  }

  toolbar() {
    const zoom = (text, title, change) =>
      element("button", { title, "aria-label": title, onclick: () => this.lanes.zoomed(change) }, text);
    return element(
      "div",
      { class: "toolbar" },
      element("input", {
        type: "search",
        placeholder: "member or partition",
        "aria-label": "member or partition",
        oninput: (event) => this.filter(event.target.value),
      }),
      this.count,
      element("span", { class: "legend" }, this.data.legend.map(([cause, colour]) => [swatch(colour), cause])),
      element(
        "div",
        { class: "zoom" },
        zoom("\u2212", "zoom out", (scale) => scale.zoom(2)),
        zoom("+", "zoom in", (scale) => scale.zoom(0.5)),
        zoom("all", "see the whole time", (scale) => scale.see(0, scale.steps)),
      ),
    );
  }

  /** See the lanes whose name has the text; the generations are always there. */
  filter(text) {
    const wanted = text.toLowerCase();
    const { lanes } = this.timeline;
    const found = lanes.filter((lane) => lane.kind === "generations" || lane.name.toLowerCase().includes(wanted));
    const count = (kind) => found.filter((lane) => lane.kind === kind).length;
    fill(this.count, `${counted(count("member"), "member")}, ${counted(count("partition"), "partition")}`);
    this.lanes.see(found);
  }

  makeTable() {
    const { cells, times } = this.data.rows;
    const table = new WindowedTable({
      label: "rebalances",
      columns: this.data.heads.map((head, place) => ({
        head: place ? head : clockHead(this.data.begin),
        width: COLUMN_WIDTHS[place],
        cell: (row) => cells[row][place],
      })),
      rowClass: (row) => (row === this.chosenRow ? "opens chosen" : "opens"),
      onchoose: (row) => this.chooseRow(row, times[row]),
    });
    table.root.style.height = `${(Math.min(MOST_TABLE_ROWS, cells.length) + 1) * ROW_HEIGHT + 18}px`;
    return table;
  }

  chooseRow(row, time) {
    this.chosenRow = row;
    if (time !== null) this.lanes.choose(time - this.timeline.begin);
    this.table.draw();
    this.say(this.data.rows.cells[row].filter(Boolean).join("  "), [], this.data.rows.lines[row]);
  }

  // ---------------------------------------------------------------------------------------------- what is said

  hover(at, event) {
    if (!at) {
      this.tooltip.hide();
      return;
    }
    const { lane, row: ms } = at;
    const change = lane.at(ms);
    const marks = lane.marksNear(ms, this.lanes.near);
    this.tooltip.show(
      event,
      element("p", {}, element("b", {}, lane.name), ` ${lane.textOf(change)}`),
      element("p", { class: "quiet" }, this.spanText(lane.span(change))),
      lane.detailOf(change) && element("p", {}, lane.detailOf(change)),
      marks.slice(0, MOST_FIELDS_OF_EVENTS).map((mark) => element("p", {}, this.markText(lane, mark))),
    );
  }

  spanText([from, to]) {
    const { begin } = this.timeline;
    return `${this.timeText(begin + from)} to ${this.timeText(begin + to)}, ${durationText(to - from)}`;
  }

  markText(lane, mark) {
    return `${this.timeText(this.timeline.begin + lane.marks[mark])} ${lane.markText(mark)}`;
  }

  /** A time, with its date where the lanes are longer than a day. */
  timeText(ms) {
    return this.timeline.steps > DAY ? `${clockText(ms, DAY)} ${clockText(ms)}` : clockText(ms);
  }

  /** A time of a lane was clicked: show the lines of its stretch, and of the marks nearby. */
  choose(ms, lane) {
    this.lanes.chosen = ms;
    this.lanes.draw();
    if (!lane) return;
    const change = lane.at(ms);
    const marks = lane.marksNear(ms, this.lanes.near);
    const more = [this.spanText(lane.span(change)), lane.detailOf(change), ...marks.map((mark) => this.markText(lane, mark))];
    const lines = new Set([...marks.map((mark) => lane.markLine(mark)), ...lane.linesOf(change)]);
    this.say(`${lane.name}: ${lane.textOf(change) || "nothing is known"}`, more, [...lines]);
  }

  say(title, more, lines) {
    fill(
      this.said,
      element("h3", {}, title),
      more.filter(Boolean).map((text) => element("p", { class: "quiet" }, text)),
      lines.length
        ? element("ul", { class: "lines" }, lines.map((line) => this.line(line)))
        : element("p", { class: "quiet" }, "No line says it: it follows from others."),
    );
  }

  /** A log line: its file, its number, its text. */
  line(number) {
    const [source, line, text] = this.lines.rows[number];
    const place = `${this.lines.sources[source]}:${line}`;
    return element("li", {}, element("b", {}, place), " ", text ?? "(the page has no space for its text)");
  }

  /** Show when a finding is. */
  show(since, until) {
    const { begin } = this.timeline;
    this.lanes.focus(since - begin, until - begin);
    this.lanes.root.scrollIntoView({ block: "center" });
  }
}

/** The head of the column of times. */
function clockHead(begin) {
  return begin < MONOTONIC ? "time" : "UTC";
}

/** A field of a colour of page.css. */
function swatch(colour) {
  const made = element("i", { class: "swatch" });
  made.style.background = `var(--${colour})`;
  return made;
}
