"use strict";
/* One state of a walk: its fields in words, what may happen next, and which claims hold. */

const EMPTY_VALUES = /^(-|0|NOTHING|NONE)(, (-|0|NOTHING|NONE))*$/;

/** The fields of a state: those that changed are marked, those that are empty in it and were before are left out. */
function stateTables(state, before, all) {
  const old = before || { fields: [], members: [] };
  const isQuiet = (values, earlier) => [...values, ...(earlier || [])].every((value) => EMPTY_VALUES.test(value));
  const rowsOf = (rows, earlier) => {
    const known = new Map(earlier.map(([name, ...values]) => [name, values]));
    return rows
      .filter(([name, ...values]) => all || !isQuiet(values, known.get(name)))
      .map(([name, ...values]) => stateRow(name, values, known.get(name)));
  };
  const heads = state.members.length ? state.members[0].slice(1).map((_, member) => `m${member}`) : [];
  return element(
    "div",
    { class: "state" },
    stateTable(["field", "value"], rowsOf(state.fields, old.fields)),
    stateTable(["member", ...heads], rowsOf(state.members, old.members)),
  );
}

function stateTable(heads, rows) {
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, rows.length ? rows : element("tr", {}, element("td", { colspan: heads.length }, "empty"))),
  );
}

function stateRow(name, values, before) {
  const isChanged = (value, place) => before !== undefined && before[place] !== value;
  const cells = values.map((value, place) => element("td", { class: isChanged(value, place) && "changed" }, value));
  return element("tr", {}, element("th", { scope: "row" }, name), cells);
}

/** What may happen next, each as a button. */
function nextSteps(enabled, ontake) {
  if (!enabled.length) return element("p", {}, "Nothing may happen here: within these bounds the walk is at its end.");
  const button = ({ action, heading, address, breaks }, place) =>
    element(
      "li",
      {},
      element(
        "button",
        { class: breaks ? "step breaks" : "step", title: place < 9 && `key ${place + 1}`, onclick: () => ontake(address) },
        element("b", {}, action),
        element("span", { class: "quiet" }, ` ${heading}`),
        breaks && element("span", { class: "broken-claim" }, ` breaks ${breaks}`),
      ),
    );
  return element("ol", { class: "steps" }, enabled.map(button));
}

/** Which claims hold in the state and of the step that led to it. */
function claimList(claims, met) {
  const broken = claims.filter(({ holds }) => !holds);
  const line = ({ name, sentence, of }) =>
    element("li", {}, element("code", {}, name), ` ${sentence}`, of === "step" && element("span", { class: "quiet" }, " (of steps)"));
  return element(
    "div",
    { class: "claims-here" },
    broken.length > 0 &&
      element("div", { class: "finding" }, element("h3", {}, badge("violated"), ` here`), element("ul", {}, broken.map(line))),
    element(
      "details",
      {},
      element("summary", {}, badge("held"), ` ${counted(claims.length - broken.length, "claim")}`),
      element("ul", {}, claims.filter(({ holds }) => holds).map(line)),
    ),
    met.length > 0 && element("p", { class: "quiet" }, `reached here: ${met.join(", ")}`),
  );
}
