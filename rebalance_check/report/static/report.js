"use strict";
/* The page of judged runs: the one run it is about, or a list from which each run is opened. */

const PAGE = embedded("page");
const MAIN = document.querySelector("main");
const TEMPLATES = embedded("templates");
const OPENED = new Map(); // timelines are decoded when they are first needed

function timelineOf(number) {
  if (!OPENED.has(number)) OPENED.set(number, new Timeline(embedded(`timeline-${number}`), TEMPLATES));
  return OPENED.get(number);
}

/** Show one run; `number` is its place in the list. */
function openRun(number) {
  const facts = PAGE.shown[number];
  const view = new RunView(timelineOf(facts.timeline), facts);
  const isOnly = PAGE.runs.names.length === 1;
  fill(
    MAIN,
    element(
      "h2",
      {},
      !isOnly && element("a", { href: "#", class: "back" }, "all runs"),
      badge(PAGE.verdicts[PAGE.runs.verdicts[number]]),
      " ",
      String(PAGE.runs.names[number]),
    ),
    view.root,
  );
  if (facts.findings.length) view.choose(facts.findings[0].step - 1);
}

/** Go to the page of a run. */
function open(run) {
  location.hash = `#${run}`;
}

/** Save the history of a run. */
function takeOut(run) {
  timelineOf(PAGE.shown[run].timeline).save(PAGE.shown[run].file);
}

/** Show what the address of the page names: `#3` is the fourth run, nothing is the list. */
function route() {
  const wanted = location.hash.slice(1);
  const only = PAGE.runs.names.length === 1 ? "0" : wanted;
  if (only in PAGE.shown) openRun(Number(only));
  else fill(MAIN, new RunList(PAGE, { open, takeOut }).root);
}

addEventListener("hashchange", route);
route();
