"use strict";
/* The page of a diagnosis: it draws the lanes of a group when its section comes near the window. */

const LINES = embedded("lines");
const DRAWN = new Map();

/** The lanes of a section, drawn once; undefined for a group without. */
function drawnIn(section) {
  const id = `group-${section.dataset.group}`;
  if (!DRAWN.has(id) && document.getElementById(id)) {
    const group = new DiagnosedGroup(embedded(id), LINES);
    DRAWN.set(id, group);
    fill(section.querySelector(".drawn"), group.root);
  }
  return DRAWN.get(id);
}

const NEAR = new IntersectionObserver((entries) => entries.filter((each) => each.isIntersecting).forEach((each) => drawnIn(each.target)), {
  rootMargin: "600px",
});
for (const [place, section] of document.querySelectorAll(".diagnosed").entries()) {
  if (place) NEAR.observe(section);
  else drawnIn(section);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-since]");
  const group = link && drawnIn(link.closest(".diagnosed"));
  if (group) group.show(Number(link.dataset.since), Number(link.dataset.until));
});
