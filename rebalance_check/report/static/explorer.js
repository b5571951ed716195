"use strict";
/* The explorer: a walk through the states of a bound, one step after the other. */

class Explorer {
  constructor(start) {
    this.start = start;
    this.shown = null; // the walk as the server sees it
    this.all = false; // whether empty fields of the state are shown, too
    this.error = element("p", { class: "error", role: "alert" });
    this.place = element("output", { class: "count" });
    this.next = element("div");
    this.state = element("div");
    this.claims = element("div");
    this.walk = element("div");
    this.address = element("code", { class: "address" });
    const address = () => this.shown.addresses[this.shown.at];
    const onerror = (error) => this.refuse(error);
    this.search = new SearchPanel({ address, onwalk: (walk) => this.go(walk), onerror });
    this.kafka = new KafkaPanel({ address: () => this.shown.address, onchoose: (step) => this.go(this.shown.address, step) });
    this.root = element("div", { class: "explorer" }, this.form(), this.error, this.panels());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // ---------------------------------------------------------------------------------------------- the frame

  /** Bounds to begin with: written, or those of a mutant. */
  form() {
    this.bounds = element("input", { class: "bounds", "aria-label": "bounds", spellcheck: "false" });
    const { mutants, protocols } = this.start;
    const option = ({ name, what, caught_by: claim, address }) =>
      element("option", { value: address, title: what }, `${name} (${claim})`);
    const choose = (event) => event.target.value && this.go(event.target.value);
    return element(
      "form",
      {
        class: "toolbar",
        onsubmit: (event) => {
          event.preventDefault();
          this.go(`v1/${this.bounds.value}/`);
        },
      },
      element("label", {}, "bounds ", this.bounds),
      element("button", {}, "begin"),
      element(
        "select",
        { class: "protocols", "aria-label": "protocol", onchange: choose },
        element("option", { value: "" }, "another protocol"),
        protocols.map((name) => element("option", { value: `v1/${name}?members=2&partitions=2/` }, name)),
      ),
      element(
        "select",
        { class: "mutants", "aria-label": "planted defect", onchange: choose },
        element("option", { value: "" }, "a planted defect"),
        mutants.map(option),
      ),
    );
  }

  panels() {
    const button = (name, text, title, act) => element("button", { class: name, title, onclick: act }, text);
    const all = element("input", { type: "checkbox", onchange: (event) => this.showAll(event.target.checked) });
    return element(
      "div",
      {},
      element(
        "div",
        { class: "toolbar walker" },
        button("first", "\u21e4 begin", "to the initial state (Home)", () => this.jump(0)),
        button("back", "\u2190 back", "one step back (\u2190)", () => this.jump(this.shown.at - 1)),
        button("forward", "forward \u2192", "one step forward (\u2192)", () => this.jump(this.shown.at + 1)),
        this.place,
        this.address,
      ),
      element(
        "div",
        { class: "columns" },
        element("section", { class: "panel next" }, element("h2", {}, "Next"), this.next),
        element(
          "section",
          { class: "panel" },
          element("h2", {}, "State"),
          this.state,
          element("label", { class: "quiet" }, all, " empty fields, too"),
          this.claims,
        ),
      ),
      element("section", { class: "panel walked" }, element("h2", {}, "Walk"), this.walk),
      element("div", { class: "columns" }, this.search.root, this.kafka.root),
    );
  }

  // ---------------------------------------------------------------------------------------------- walking

  /** Show a walk after one of its steps; the last one where none is named. */
  async go(address, at = null) {
    try {
      this.show(await get("/api/walk", at === null ? { address } : { address, at }));
    } catch (error) {
      this.refuse(error);
    }
  }

  jump(at) {
    if (this.shown && at >= 0 && at <= this.shown.actions.length) this.go(this.shown.address, at);
  }

  /** Take a step: along the walk where it is its next one, away from it otherwise. */
  take(address) {
    const { addresses, at } = this.shown;
    if (addresses[at + 1] === address) this.jump(at + 1);
    else this.go(address);
  }

  key(event) {
    if (!this.shown || event.target.closest("input, select, .lanes, .window") || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowLeft: this.shown.at - 1, ArrowRight: this.shown.at + 1, Home: 0 };
    if (event.key in moves) this.jump(moves[event.key]);
    else if (/^[1-9]$/.test(event.key) && this.shown.enabled[event.key - 1]) this.take(this.shown.enabled[event.key - 1].address);
    else return;
    event.preventDefault();
  }

  refuse(error) {
    fill(this.error, error.message);
  }

  showAll(all) {
    this.all = all;
    fill(this.state, stateTables(this.shown.state, this.shown.before, all));
  }

  show(walk) {
    if (this.shown && this.shown.address !== walk.address) this.kafka.forget();
    this.shown = walk;
    fill(this.error);
    this.bounds.value = walk.mutant ? `${walk.bounds}!${walk.mutant}` : walk.bounds;
    fill(this.place, `step ${walk.at} of ${walk.actions.length}`, walk.loop !== null && `, from ${walk.loop + 1} on again and again`);
    fill(this.address, walk.addresses[walk.at]);
    fill(this.next, nextSteps(walk.enabled, (address) => this.take(address)));
    this.showAll(this.all);
    fill(this.claims, claimList(walk.claims, walk.met));
    this.drawWalk(walk);
    history.replaceState(null, "", `#${encodeURIComponent(walk.address)}@${walk.at}`);
  }

  /** The lanes and the table of the whole walk, as a page of a history has them. */
  drawWalk(walk) {
    if (!walk.actions.length) {
      fill(this.walk, element("p", { class: "quiet" }, "the initial state: choose what happens first"));
      return;
    }
    const facts = { findings: [], lines: [], run: "", seed: "", replay: walk.replay, file: "", repeatsAfter: walk.loop };
    const view = new RunView(new Timeline(walk.timeline, walk.templates), facts);
    fill(this.walk, view.root);
    if (walk.at > 0) view.choose(walk.at - 1);
    view.onchoose = (row) => this.jump(row + 1);
  }
}

/** The walk that the address of the page names: its address and its step; null for none. */
function namedWalk() {
  const found = /^#(.+)@(\d+)$/.exec(location.hash);
  return found && { address: decodeURIComponent(found[1]), at: Number(found[2]) };
}

async function begin() {
  const main = document.querySelector("main");
  try {
    const explorer = new Explorer(await get("/api/start"));
    fill(main, explorer.root);
    const named = namedWalk();
    await (named ? explorer.go(named.address, named.at) : explorer.go(explorer.start.address));
    explorer.search.look();
  } catch (error) {
    fill(main, element("p", { class: "error" }, error.message));
  }
}

begin();
