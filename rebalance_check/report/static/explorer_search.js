"use strict";
/* The search of the bounds: how far it is, what it found, and which rules fired in it. */

const ASK_EVERY_MS = 300;

class SearchPanel {
  /** `address()` is that of the walk, `onwalk(address)` shows another one, `onerror(error)` a refusal. */
  constructor({ address, onwalk, onerror }) {
    this.address = address;
    this.onwalk = onwalk;
    this.onerror = onerror;
    this.body = element("div");
    this.root = element(
      "section",
      { class: "panel search" },
      element("h2", {}, "Search"),
      element(
        "p",
        {},
        element("button", { class: "begin", onclick: () => this.begin({}) }, "search these bounds"),
        " ",
        element("button", { class: "live", onclick: () => this.begin({ liveness: "on" }) }, "also what must happen"),
      ),
      this.body,
    );
  }

  async begin(wanted) {
    try {
      this.show(await post("/api/search", { address: this.address(), ...wanted }));
    } catch (error) {
      this.onerror(error);
    }
  }

  /** Show a search, and ask again while it goes on. */
  show(search) {
    if (search.error) fill(this.body, element("p", { class: "error" }, search.error));
    else if (search.state === "ended") fill(this.body, "witness" in search ? this.witness(search) : this.found(search));
    else if (search.state !== "none") {
      fill(this.body, this.progress(search));
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(), ASK_EVERY_MS);
    }
  }

  async look() {
    try {
      this.show(await get("/api/search"));
    } catch (error) {
      this.onerror(error);
    }
  }

  progress(search) {
    const words = {
      begins: () => "begins",
      compiles: () => `compiles the model, once for these sizes: ${search.seconds} s`,
      searches: () =>
        `level ${search.depth}: ${counted(search.states, "state")}, ${grouped(search.frontier)} of them not expanded, ` +
        `${search.seconds} s`,
    };
    const stop = async () => this.show(await post("/api/search/stop"));
    return element(
      "p",
      { role: "status" },
      `${search.bounds}${search.mutant && ` with ${search.mutant}`}: ${words[search.state]()} `,
      element("button", { onclick: stop }, "stop"),
    );
  }

  witness(search) {
    const text = `${search.goal}: `;
    if (!search.witness) return element("p", {}, text, search.ended || `not reached in ${counted(search.states, "state")}`);
    return element("p", {}, text, this.walkLink("a shortest way there", search.witness));
  }

  walkLink(text, address) {
    return element("button", { class: "link", onclick: () => this.onwalk(address) }, text);
  }

  found(search) {
    const verdict = search.violated ? "violated" : search.complete ? "held" : "undecided";
    return element(
      "div",
      {},
      element(
        "p",
        {},
        badge(verdict),
        ` ${search.bounds}${search.mutant && ` with ${search.mutant}`}: ${counted(search.states, "state")}, `,
        `${counted(search.transitions, "transition")}, ${search.seconds} s${search.ended && `; ended early: ${search.ended}`}`,
      ),
      search.violated && this.counterexample(search),
      search.liveness && search.liveness.map((each) => this.property(each)),
      this.rules(search.rules),
      this.reachable(search.reachable),
    );
  }

  counterexample(search) {
    const { name, sentence } = search.verdicts.find((each) => each.name === search.violated);
    return element(
      "div",
      { class: "finding" },
      element("h3", {}, element("code", {}, name)),
      element("p", { class: "claim" }, sentence),
      this.walkLink("walk a shortest counterexample", search.counterexample),
    );
  }

  /** A liveness property. */
  property({ name, sentence, verdict, address }) {
    return element(
      "p",
      {},
      badge(verdict),
      " ",
      element("code", {}, name),
      ` ${sentence} `,
      address && this.walkLink("a run that goes on for ever", address),
    );
  }

  /** How often each kind of step was taken; one that was never taken shows a guard that is never true here. */
  rules(rules) {
    const most = Math.max(1, ...rules.map(({ count }) => count));
    const row = ({ name, heading, count }) => {
      const bar = element("span", { class: "bar" });
      bar.style.width = `${Math.ceil((100 * count) / most)}%`;
      return element(
        "tr",
        {},
        element("th", { scope: "row", title: heading }, name),
        element("td", { class: "number" }, grouped(count)),
        element("td", { class: "bars" }, bar),
      );
    };
    const taken = rules.filter(({ count }) => count);
    const never = rules.filter(({ count }) => !count).map(({ name }) => name);
    return element(
      "details",
      { open: true },
      element("summary", {}, `${taken.length} of ${counted(rules.length, "kind")} of steps were taken`),
      element("table", { class: "coverage" }, element("tbody", {}, taken.map(row))),
      never.length > 0 && element("p", { class: "never" }, element("b", {}, "never taken: "), never.join(", ")),
    );
  }

  reachable(reachable) {
    const met = reachable.filter((each) => each.met).length;
    const line = ({ name, sentence, met: isMet }) =>
      element(
        "li",
        { class: isMet ? null : "quiet" },
        isMet
          ? element("button", { class: "link", title: "walk a shortest way there", onclick: () => this.begin({ goal: name }) }, name)
          : `${name} (not reached)`,
        ` ${sentence}`,
      );
    return element(
      "details",
      {},
      element("summary", {}, `${met} of ${counted(reachable.length, "reachable state")} and steps were met`),
      element("ul", {}, reachable.map(line)),
    );
  }
}
