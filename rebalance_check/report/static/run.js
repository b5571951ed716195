"use strict";
/* One run: what broke in it and why, its lanes, and the table of its steps. */

const WIDEST_CELL = 34; // characters
const LONG_LINE = 240;

/** A long line shows its beginning until it is opened. */
function folded(line) {
  if (line.length <= LONG_LINE) return line;
  const [head, rest] = [line.slice(0, LONG_LINE / 2), line.slice(LONG_LINE / 2)];
  return element("details", {}, element("summary", {}, `${head}\u2026`), `\u2026${rest}`);
}

class RunView {
  /** `facts` are what the page says of the run besides its timeline. */
  constructor(timeline, facts) {
    this.timeline = timeline;
    this.facts = facts;
    this.onchoose = () => {}; // of a row
    this.rows = null; // the rows that the filter lets through; null for all
    this.tooltip = new Tooltip();
    const findings = facts.findings;
    this.concerned = findings.flatMap((finding) => finding.steps.map((step) => step - 1));
    this.broken = new Set(findings.map((finding) => finding.step - 1));
    this.filter = new Filter(timeline, { concerned: this.concerned, onchange: () => this.refilter() });
    this.group = this.groupOfFindings();
    this.filter.group = this.group;
    this.count = element("output", { class: "count" });
    this.lanes = new Swimlanes(timeline, {
      lanes: timeline.lanesOf(this.group),
      marks: [...this.broken],
      repeatsAfter: facts.repeatsAfter,
      onhover: (at, event) => this.hoverLane(at, event),
      onchoose: (row) => this.choose(row),
    });
    this.tableSpace = element("div");
    this.root = element(
      "div",
      { class: "run" },
      this.head(),
      this.lanes.root,
      this.toolbar(),
      this.tableSpace,
      this.tooltip.root,
    );
    this.makeTable();
    this.refilter();
  }

  /** The group of the first finding's event, or the first group. */
  groupOfFindings() {
    const row = this.concerned.length ? Math.max(...this.concerned) : -1;
    const [from, to] = row >= 0 ? this.timeline.eventsOf(row) : [0, 0];
    const group = from < to ? this.timeline.events.group(from) : "";
    return this.timeline.groups.includes(group) ? group : this.timeline.groups[0];
  }

  // ---------------------------------------------------------------------------------------------- what is said

  head() {
    const { facts } = this;
    const rows = [
      ["run", facts.run],
      ["seed", facts.seed],
      ["replay", facts.replay && element("code", {}, facts.replay)],
      ...facts.lines.map((line) => ["", folded(line)]),
    ].filter(([, text]) => text);
    return element(
      "div",
      {},
      facts.findings.map((finding) => this.finding(finding)),
      element("dl", { class: "facts" }, rows.map(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
    );
  }

  finding(finding) {
    const reason = ({ text, step }) => element("li", {}, step ? this.link(text, step - 1) : text);
    return element(
      "article",
      { class: "finding" },
      element("h3", {}, element("code", {}, finding.claim), " ", finding.headline),
      finding.sentence && element("p", { class: "claim" }, finding.sentence),
      finding.because.length > 0 && element("ol", {}, finding.because.map(reason)),
      finding.step > 0 && element("p", {}, this.link(`broken at step ${grouped(finding.step)}`, finding.step - 1)),
    );
  }

  /** A text that leads to a row. */
  link(text, row) {
    return element("button", { class: "link", onclick: () => this.choose(row) }, text);
  }

  // ---------------------------------------------------------------------------------------------- lanes and table

  toolbar() {
    const { facts } = this;
    const zoom = (text, title, change) =>
      element("button", { title, "aria-label": title, onclick: () => this.lanes.zoomed(change) }, text);
    return element(
      "div",
      { class: "toolbar" },
      this.filter.root,
      this.timeline.groups.length > 1 && this.groupChoice(),
      this.count,
      element(
        "div",
        { class: "zoom" },
        zoom("\u2212", "zoom out", (scale) => scale.zoom(2)),
        zoom("+", "zoom in", (scale) => scale.zoom(0.5)),
        zoom("all", "see the whole run", (scale) => scale.see(0, scale.steps)),
      ),
      facts.file && element("button", { class: "download", onclick: () => this.timeline.save(facts.file) }, "take the history out"),
    );
  }

  groupChoice() {
    const options = this.timeline.groups.map((group) =>
      element("option", { value: group, selected: group === this.group }, group || "no group"),
    );
    const choose = (event) => this.see(this.timeline.groups[event.target.selectedIndex]);
    return element("label", {}, "group", element("select", { onchange: choose }, options));
  }

  /** Show the lanes of another group. */
  see(group) {
    this.group = this.filter.group = group;
    this.lanes.see(this.timeline.lanesOf(group));
    this.makeTable();
    this.refilter();
  }

  makeTable() {
    this.table = new WindowedTable({
      label: "steps",
      columns: [...this.stepColumns(), ...this.laneColumns()],
      rowClass: (index) => this.rowClass(this.rowAt(index)),
      onhover: (index, event) => this.hoverRow(index, event),
      onchoose: (index) => this.choose(this.rowAt(index)),
      onscroll: (first, last) => this.scrolled(first, last),
    });
    fill(this.tableSpace, this.table.root);
  }

  stepColumns() {
    const { timeline } = this;
    const time = (row) => (timeline.time(row) === null ? "" : seconds(timeline.time(row)));
    const digits = grouped(timeline.steps).length;
    return [
      { head: "#", width: Math.max(2, digits), cell: (index) => grouped(this.rowAt(index) + 1) },
      { head: "time", width: time(timeline.steps - 1).length + 1, cell: (index) => time(this.rowAt(index)) },
      { head: "event", width: 48, cell: (index) => timeline.phrases.text(this.rowAt(index)) },
    ];
  }

  /** A column for each lane but those of partitions, which their owners' columns show, too. */
  laneColumns() {
    const lanes = this.timeline.lanesOf(this.group).filter((lane) => lane.kind !== "partition");
    return lanes.map((lane) => ({
      head: lane.name,
      width: this.widthOf(lane),
      cell: (index) => this.cell(lane, this.rowAt(index)),
    }));
  }

  widthOf(lane) {
    const longest = lane.texts.reduce((most, text) => Math.max(most, this.timeline.cells[text].length), lane.name.length);
    return Math.min(WIDEST_CELL, longest);
  }

  cell(lane, row) {
    return { text: lane.text(row), class: lane.changes(row) ? "changed" : null };
  }

  rowAt(index) {
    return this.rows ? this.rows[index] : index;
  }

  rowClass(row) {
    const repeats = this.facts.repeatsAfter !== null && row >= this.facts.repeatsAfter;
    const classes = {
      broken: this.broken.has(row),
      concerned: this.filter.concerned.has(row),
      chosen: this.lanes.chosen === row,
      repeats,
    };
    return Object.keys(classes).filter((name) => classes[name]).join(" ");
  }

  refilter() {
    const matching = this.filter.matching();
    this.rows = matching && Uint32Array.from(matching.keys()).filter((row) => matching[row]);
    this.lanes.matching = matching;
    const total = this.timeline.steps;
    const found = this.rows ? this.rows.length : total;
    fill(this.count, this.rows ? `${grouped(found)} of ${counted(total, "step")}` : counted(total, "step"));
    this.table.root.scrollTop = 0;
    this.table.resize(found);
    this.lanes.draw();
  }

  /** A row was chosen: mark it in both, and bring it into view. */
  choose(row) {
    const index = this.rows ? Math.max(0, lastAtMost(this.rows, row)) : row;
    this.lanes.choose(row);
    this.table.show(index);
    this.onchoose(row);
  }

  scrolled(first, last) {
    if (!this.lanes) return;
    this.lanes.window = last > first ? [this.rowAt(first), this.rowAt(last - 1) + 1] : [0, 0];
    this.lanes.draw();
  }

  hoverRow(index, event) {
    if (index === null) this.tooltip.hide();
    else this.tooltip.show(event, eventDetails(this.timeline, this.rowAt(index)));
  }

  hoverLane(at, event) {
    if (!at) {
      this.tooltip.hide();
      return;
    }
    const { lane, row } = at;
    const [from, to] = lane.span(row);
    const span = to - from > 1 ? `steps ${grouped(from + 1)} to ${grouped(to)}` : `step ${grouped(from + 1)}`;
    this.tooltip.show(
      event,
      element("p", {}, element("b", {}, lane.name), ` ${lane.text(row)}`),
      element("p", { class: "quiet" }, span),
      element("p", {}, `${grouped(row + 1)}  ${this.timeline.phrases.text(row)}`),
    );
  }
}
