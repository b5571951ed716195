"use strict";
/* Text and elements. What a history says reaches the page as text, never as markup. */

/** What could move, hide or forge other text: control and format characters, line ends, odd spaces, lone surrogates. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** The text with each such character written as an escape, as a terminal of this program shows it. */
function visible(text) {
  return String(text).replace(UNPRINTABLE, (char) => {
    const code = char.codePointAt(0).toString(16);
    if (code.length <= 2) return "\\x" + code.padStart(2, "0");
    return code.length <= 4 ? "\\u" + code.padStart(4, "0") : "\\U" + code.padStart(8, "0");
  });
}

/** An element: `parts` are its attributes, `children` texts or elements; listeners begin with "on". */
function element(tag, parts = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(parts)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : visible(value));
  }
  add(made, children);
  return made;
}

/** Put texts, elements and lists of both into an element. */
function add(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

/** The element with these children instead of its own. */
function fill(parent, ...children) {
  parent.replaceChildren();
  add(parent, children);
  return parent;
}

/** 12,345 */
function grouped(number) {
  return number.toLocaleString("en-US");
}

/** "1 step", "2 steps" */
function counted(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Milliseconds of a clock as seconds: "12.345 s". */
function seconds(ms) {
  return (ms / 1000).toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 }) + " s";
}

/** The badge of a verdict. */
function badge(verdict) {
  return element("span", { class: `verdict ${verdict}` }, verdict);
}

/** Save text as a file of this name. */
function save(name, pieces) {
  const address = URL.createObjectURL(new Blob(pieces, { type: "application/x-ndjson" }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The data that a page embeds in the element of this id. */
function embedded(id) {
  return JSON.parse(document.getElementById(id).textContent);
}
