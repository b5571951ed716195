"use strict";
/* What stands next to the pointer: the fields of an event, or what a lane shows. */

class Tooltip {
  constructor() {
    this.root = element("div", { class: "tooltip", role: "tooltip", hidden: true });
  }

  hide() {
    this.root.hidden = true;
  }

  /** Show these children near the pointer, inside of the window. */
  show(event, ...children) {
    fill(this.root, children);
    this.root.hidden = false;
    const { width, height } = this.root.getBoundingClientRect();
    const right = event.clientX + 16 + width < innerWidth ? event.clientX + 16 : event.clientX - width - 12;
    const below = event.clientY + 16 + height < innerHeight ? event.clientY + 16 : event.clientY - height - 12;
    this.root.style.left = `${Math.max(4, right)}px`;
    this.root.style.top = `${Math.max(4, below)}px`;
  }
}

const MOST_FIELDS_OF_EVENTS = 4; // a step of the model may cause many events

/** The events of a row with all their fields. */
function eventDetails(timeline, row) {
  const [from, to] = timeline.eventsOf(row);
  const shown = Math.min(to, from + MOST_FIELDS_OF_EVENTS);
  const parts = [];
  for (let event = from; event < shown; event++) parts.push(fieldList(timeline.events.fields(event)));
  if (to > shown) parts.push(element("p", {}, `and ${counted(to - shown, "more event")}`));
  return parts;
}

/** Names and values, those left out that are empty. */
function fieldList(fields) {
  const { event, ...others } = fields;
  const isSaid = (value) => value !== "" && value !== null && !(Array.isArray(value) && value.length === 0);
  const rows = Object.entries(others).filter(([, value]) => isSaid(value));
  return element(
    "dl",
    { class: "fields" },
    event && [element("dt", {}, "event"), element("dd", { class: "name" }, event)],
    rows.map(([name, value]) => [element("dt", {}, name), element("dd", {}, shown(value))]),
  );
}

/** A value in as few characters as it needs. */
function shown(value) {
  if (!Array.isArray(value)) return String(value);
  return value.map((item) => (Array.isArray(item) ? `${item[0]}: ${item.slice(1).map(shown).join(" ")}` : shown(item))).join(", ");
}
