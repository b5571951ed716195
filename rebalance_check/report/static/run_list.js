"use strict";
/* Many runs: findings that are alike, and the list of all runs with its filter. */

const MOST_RUNS_NAMED = 12; // of one kind of finding; the list has all

class RunList {
  /** `page` is what the page embeds; `open(run)` shows a run that it holds in full, `takeOut(run)` saves its history. */
  constructor(page, { open, takeOut }) {
    this.page = page;
    this.onopen = open;
    this.takeOut = takeOut;
    this.wanted = { verdict: "", text: "", signature: null };
    this.signaturesOf = this.signaturesByRun();
    this.count = element("output", { class: "count" });
    this.runs = Uint32Array.from(page.runs.names.keys());
    this.table = new WindowedTable({
      label: "runs",
      columns: this.columns(),
      rowClass: (index) => (this.isShown(this.runs[index]) ? "opens" : ""),
      onchoose: (index) => this.isShown(this.runs[index]) && open(this.runs[index]),
    });
    this.root = element(
      "div",
      {},
      this.page.signatures.length > 0 && element("h2", {}, "Findings"),
      this.page.signatures.map((signature, number) => this.signature(signature, number)),
      element("h2", {}, "Runs"),
      this.toolbar(),
      this.table.root,
    );
    this.refilter();
  }

  /** For each run that broke a claim the numbers of its signatures. */
  signaturesByRun() {
    const found = new Map();
    this.page.signatures.forEach(({ runs }, number) => {
      for (const run of runs) found.set(run, [...(found.get(run) || []), number]);
    });
    return found;
  }

  isShown(run) {
    return String(run) in this.page.shown;
  }

  verdict(run) {
    return this.page.verdicts[this.page.runs.verdicts[run]];
  }

  signature(signature, number) {
    const { claim, shape, sentence, runs } = signature;
    const named = [...runs].sort((one, other) => this.isShown(other) - this.isShown(one)).slice(0, MOST_RUNS_NAMED);
    return element(
      "article",
      { class: "finding" },
      element("h3", {}, badge("violated"), " ", element("code", {}, claim), " ", shape),
      sentence && element("p", { class: "claim" }, sentence),
      element(
        "p",
        {},
        `${counted(runs.length, "run")}: `,
        named.map((run) => [this.name(run), " "]),
        runs.length > 1 && element("button", { onclick: () => this.see(number) }, "list these"),
      ),
    );
  }

  /** The name of a run, which opens it where the page holds it. */
  name(run) {
    const name = this.page.runs.names[run];
    if (!this.isShown(run)) return element("span", { class: "quiet" }, name);
    return element("button", { class: "link", onclick: () => this.onopen(run) }, name);
  }

  /** What saves the history of a run; nothing where the page does not hold one. */
  history(run) {
    if (!this.isShown(run) || !this.page.shown[run].file) return null;
    return element("button", { class: "link", onclick: () => this.takeOut(run) }, "take out");
  }

  /** List the runs of one signature. */
  see(signature) {
    this.wanted.signature = signature;
    this.refilter();
    this.table.root.scrollIntoView({ block: "nearest" });
  }

  columns() {
    const { names, events, notes } = this.page.runs;
    const longest = names.reduce((most, name) => Math.max(most, String(name).length), 4);
    const claims = (run) => (this.signaturesOf.get(run) || []).map((number) => this.page.signatures[number].claim);
    return [
      { head: "run", width: Math.min(60, longest), cell: (index) => this.name(this.runs[index]) },
      { head: "verdict", width: 12, cell: (index) => badge(this.verdict(this.runs[index])) },
      { head: "events", width: 9, cell: (index) => sized(events[this.runs[index]]) },
      { head: "history", width: 9, cell: (index) => this.history(this.runs[index]) },
      ...(notes ? [{ head: "", width: 80, cell: (index) => notes[this.runs[index]] }] : []),
      { head: "broken claims", width: 60, cell: (index) => [...new Set(claims(this.runs[index]))].join(", ") },
    ];
  }

  toolbar() {
    const counts = new Map();
    this.page.runs.names.forEach((_, run) => counts.set(this.verdict(run), (counts.get(this.verdict(run)) || 0) + 1));
    const set = (name) => (value) => {
      this.wanted[name] = value;
      this.wanted.signature = null;
      this.refilter();
    };
    return element(
      "div",
      { class: "toolbar" },
      element(
        "div",
        { class: "filter" },
        choice("verdict", "verdicts", counts, set("verdict")),
        element("input", {
          type: "search",
          placeholder: "run or claim",
          "aria-label": "run or claim",
          oninput: (event) => set("text")(event.target.value),
        }),
      ),
      this.count,
    );
  }

  passes(run) {
    const { verdict, text, signature } = this.wanted;
    const signatures = this.signaturesOf.get(run) || [];
    if (signature !== null && !signatures.includes(signature)) return false;
    if (verdict && this.verdict(run) !== verdict) return false;
    const claims = signatures.map((number) => this.page.signatures[number].claim);
    return !text || [String(this.page.runs.names[run]), ...claims].some((each) => each.includes(text));
  }

  refilter() {
    const all = this.page.runs.names.length;
    this.runs = Uint32Array.from(this.page.runs.names.keys()).filter((run) => this.passes(run));
    const held = Object.keys(this.page.shown).length;
    const some = this.runs.length < all ? `${grouped(this.runs.length)} of ` : "";
    const again = this.page.again && [", of another one in that of ", element("code", {}, this.page.again)];
    fill(
      this.count,
      `${some}${counted(all, "run")}`,
      held < all && held > 0 && [`; the histories of ${grouped(held)} are in this page`, again],
    );
    this.table.root.scrollTop = 0;
    this.table.resize(this.runs.length);
  }
}

/** The size of a run; empty where it has none. */
function sized(events) {
  return events === null ? "" : grouped(events);
}
