"use strict";
/* The same walk on Kafka's own coordinator in virtual time: its replies next to those of the model. */

class KafkaPanel {
  /** `address()` is that of the walk; `onchoose(step)` shows one of its steps. */
  constructor({ address, onchoose }) {
    this.address = address;
    this.onchoose = onchoose;
    this.body = element("div");
    this.button = element("button", { class: "begin", onclick: () => this.follow() }, "do this walk on Kafka");
    this.root = element(
      "section",
      { class: "panel kafka" },
      element("h2", {}, "Kafka"),
      element("p", {}, this.button, element("span", { class: "quiet" }, " its own coordinator, in virtual time; needs a JDK 17")),
      this.body,
    );
  }

  async follow() {
    this.button.disabled = true;
    fill(this.body, element("p", { role: "status" }, "Kafka begins \u2026"));
    try {
      fill(this.body, this.result(await post("/api/kafka", { address: this.address() })));
    } catch (error) {
      fill(this.body, element("p", { class: "error" }, error.message));
    } finally {
      this.button.disabled = false;
    }
  }

  /** The walk changed: what was shown is about another one. */
  forget() {
    this.body.replaceChildren();
  }

  result(followed) {
    const rows = followed.steps.map((step, place) => this.row(step, place + 1, followed)).filter(Boolean);
    return element(
      "div",
      {},
      element("p", {}, badge(followed.divergence ? "violated" : followed.whole ? "held" : "undecided"), ` ${this.summary(followed)}`),
      followed.divergence && element("pre", { class: "divergence" }, followed.divergence.split("\n").map((line) => [line, element("br")])),
      rows.length > 0 &&
        element(
          "table",
          { class: "replies" },
          element("thead", {}, element("tr", {}, ["step", "action", "the model", followed.name].map((head) => element("th", {}, head)))),
          element("tbody", {}, rows),
        ),
    );
  }

  summary(followed) {
    if (followed.divergence) return `${followed.name} differs from the model at step ${followed.diverged}`;
    if (followed.whole) return `${followed.name} gave every reply that the model gives`;
    const left = followed.steps.findIndex((step) => step.kafka === null) + 1;
    return (
      `${followed.name} chose another of the outcomes that the model allows (who leads), so that step ${left} ` +
      "is not enabled there; up to it all replies agree"
    );
  }

  /** A step of the coordinator; those of members have no replies. */
  row({ action, coordinator, model, kafka }, number, followed) {
    if (!coordinator) return null;
    const lines = (answers) => (answers.length ? answers.map((answer) => element("div", {}, answer)) : "no reply");
    return element(
      "tr",
      { class: followed.diverged === number ? "broken" : null },
      element("td", {}, element("button", { class: "link", onclick: () => this.onchoose(number) }, String(number))),
      element("td", {}, action),
      element("td", {}, lines(model)),
      element("td", {}, kafka === null ? "\u2013" : lines(kafka)),
    );
  }
}
