"use strict";
/* Lines of text from columns of numbers: the other half of report/pages/columns.py and event_columns.py. */

const TEXT_HOLE = "\x00";
const NUMBER_HOLE = "\x01";
const HOLE = /[\x00\x01]/;

/** Numbers from their differences; the last one stays until the end. */
function summed(differences, length) {
  const numbers = new Float64Array(length);
  let last = 0;
  for (let i = 0; i < length; i++) {
    if (i < differences.length) last += differences[i];
    numbers[i] = last;
  }
  return numbers;
}

/** Lines, each a template and a number for each of its holes. */
class Lines {
  constructor(data, templates) {
    this.templates = data.templates.map((number) => {
      const text = templates[number];
      return { pieces: text.split(HOLE), holes: text.match(/[\x00\x01]/g) || [] };
    });
    this.templateOf = Uint32Array.from(data.lines);
    this.length = this.templateOf.length;
    this.place = new Uint32Array(this.length);
    const counts = new Uint32Array(this.templates.length);
    for (let i = 0; i < this.length; i++) this.place[i] = counts[this.templateOf[i]]++;
    this.columns = data.columns.map((columns, template) => columns.map((each) => summed(each, counts[template])));
  }

  /** The number in a hole of a line. */
  number(line, hole) {
    return this.columns[this.templateOf[line]][hole][this.place[line]];
  }

  /** The line, with what `value(number, isText)` makes of each hole. */
  text(line, value) {
    const { pieces, holes } = this.templates[this.templateOf[line]];
    let text = pieces[0];
    for (let hole = 0; hole < holes.length; hole++) {
      text += value(this.number(line, hole), holes[hole] === TEXT_HOLE) + pieces[hole + 1];
    }
    return text;
  }
}

/** Short texts whose numbers stand in columns. */
class Phrases {
  constructor(data, templates) {
    this.lines = new Lines(data, templates);
  }

  /** The text of a line. */
  text(line) {
    return this.lines.text(line, String);
  }

  /** Whether each line holds a text in lower case: a template without it can have it only by way of its numbers. */
  matches(wanted) {
    const hasDigit = /\d/.test(wanted);
    const templates = this.lines.templates.map(({ pieces }) => pieces.some((piece) => piece.toLowerCase().includes(wanted)));
    return (line) =>
      templates[this.lines.templateOf[line]] || (hasDigit && this.text(line).toLowerCase().includes(wanted));
  }
}

const GROUP_HOLE = 0; // the holes that every event has, in this order
const SOURCE_HOLE = 1;
const TIME_HOLE = 3;

/** The events of a history. */
class Events {
  constructor(data, templates) {
    this.texts = data.texts;
    this.lines = new Lines(data, templates);
    this.length = this.lines.length;
    this.types = this.lines.templates.map(({ pieces }) => /^\{"event":"(\w+)"/.exec(pieces[0])[1]);
  }

  /** The line of a history file, exactly as it was. */
  line(event) {
    return this.lines.text(event, (number, isText) => (isText ? this.texts[number] : String(number)));
  }

  /** The fields of an event; a number that a script cannot hold is its text, where the browser hands it over. */
  fields(event) {
    const exact = (_, value, context) => (Number.isInteger(value) && !Number.isSafeInteger(value) && context ? context.source : value);
    return JSON.parse(this.line(event), exact);
  }

  type(event) {
    return this.types[this.lines.templateOf[event]];
  }

  source(event) {
    return JSON.parse(this.texts[this.lines.number(event, SOURCE_HOLE)]);
  }

  group(event) {
    return JSON.parse(this.texts[this.lines.number(event, GROUP_HOLE)]);
  }

  /** Milliseconds on the clock of the source. */
  time(event) {
    return this.lines.number(event, TIME_HOLE);
  }

  /** How many events there are of each source, and of each type. */
  counts() {
    const sources = new Map();
    const templates = new Uint32Array(this.lines.templates.length);
    for (let event = 0; event < this.length; event++) {
      const source = this.lines.number(event, SOURCE_HOLE);
      sources.set(source, (sources.get(source) || 0) + 1);
      templates[this.lines.templateOf[event]]++;
    }
    const types = new Map();
    templates.forEach((count, template) => {
      types.set(this.types[template], (types.get(this.types[template]) || 0) + count);
    });
    const named = [...sources].map(([number, count]) => [JSON.parse(this.texts[number]), count]);
    return { sources: new Map(named), types };
  }

  /** Whether each event has a text among its values, in lower case. */
  matches(wanted) {
    const texts = this.texts.map((text) => text.toLowerCase().includes(wanted));
    const { templates, templateOf } = this.lines;
    const textHoles = templates.map(({ holes }) => holes.flatMap((hole, i) => (hole === TEXT_HOLE ? [i] : [])));
    return (event) => textHoles[templateOf[event]].some((hole) => texts[this.lines.number(event, hole)]);
  }
}
