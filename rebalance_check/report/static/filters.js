"use strict";
/* The filter of a run: by source, by type, by text, by whether anything changes. */

/** One choice among names with their counts; the first is "all", for which `onchange` receives an empty text. */
function choice(label, what, counts, onchange) {
  const options = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  const chosen = ({ selectedIndex }) => (selectedIndex ? options[selectedIndex - 1][0] : ""); // values are escaped
  return element(
    "label",
    {},
    label,
    element(
      "select",
      { onchange: (event) => onchange(chosen(event.target)) },
      element("option", { value: "" }, `all ${what}`),
      options.map(([name, count]) => element("option", { value: name }, `${name} (${grouped(count)})`)),
    ),
  );
}

class Filter {
  /** `onchange` is called when something is chosen; `concerned` are the rows that findings name. */
  constructor(timeline, { concerned, onchange }) {
    this.timeline = timeline;
    this.concerned = new Set(concerned);
    this.wanted = { source: "", type: "", text: "", only: "" };
    this.group = timeline.groups[0];
    const counts = timeline.events.counts();
    const set = (name) => (value) => {
      this.wanted[name] = value;
      onchange();
    };
    this.text = element("input", {
      type: "search",
      placeholder: "text of an event",
      "aria-label": "text of an event",
      oninput: (event) => set("text")(event.target.value),
    });
    this.root = element(
      "div",
      { class: "filter" },
      choice("source", "sources", counts.sources, set("source")),
      choice("type", "types", counts.types, set("type")),
      this.text,
      this.onlyChoice(set("only")),
    );
  }

  onlyChoice(onchange) {
    const options = [
      ["", "all steps"],
      ["changing", "steps that change a lane"],
      ["concerned", "steps that findings name"],
    ].filter(([value]) => value !== "concerned" || this.concerned.size);
    return element(
      "select",
      { "aria-label": "steps", onchange: (event) => onchange(event.target.value) },
      options.map(([value, text]) => element("option", { value }, text)),
    );
  }

  get isOpen() {
    return Object.values(this.wanted).every((value) => !value);
  }

  /** For each row 1 where it passes; null where all do. */
  matching() {
    if (this.isOpen) return null;
    const tests = this.tests();
    const passing = new Uint8Array(this.timeline.steps);
    for (let row = 0; row < passing.length; row++) passing[row] = tests.every((test) => test(row)) ? 1 : 0;
    return passing;
  }

  /** What each row must satisfy. */
  tests() {
    const { events } = this.timeline;
    const { source, type, text, only } = this.wanted;
    const tests = [];
    if (only === "changing") {
      const changing = this.timeline.changingRows(this.group);
      tests.push((row) => changing[row]);
    }
    if (only === "concerned") tests.push((row) => this.concerned.has(row));
    if (type) tests.push(this.some((event) => events.type(event) === type));
    if (source) tests.push(this.some((event) => events.source(event) === source));
    if (text) tests.push(this.textTest(text.toLowerCase()));
    return tests;
  }

  /** Whether an event of a row satisfies a test. */
  some(test) {
    return (row) => {
      const [from, to] = this.timeline.eventsOf(row);
      for (let event = from; event < to; event++) if (test(event)) return true;
      return false;
    };
  }

  /** Whether the phrase of a row, or a value of one of its events, has the text. */
  textTest(wanted) {
    const phrase = this.timeline.phrases.matches(wanted);
    const value = this.some(this.timeline.events.matches(wanted));
    return (row) => phrase(row) || value(row);
  }
}
