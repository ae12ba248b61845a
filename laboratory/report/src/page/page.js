"use strict";
// Filters and sorts rows, and unfolds the targets of links. The address holds the state: #ROW, or
// #family=zero&cache=hot&q=avx&sort=gain.
(() => {
  const find = (selector, from = document) => [...from.querySelectorAll(selector)];
  const form = document.getElementById("controls");
  const list = document.getElementById("situations");
  const situations = find(".situation", list).map((element) => ({
    element,
    title: element.querySelector("h3").textContent.toLowerCase(),
    rows: find(".row[id]", element).map((row) => ({
      row,
      text: row.querySelector(".variant").textContent.toLowerCase(),
    })),
  }));

  const orders = {
    "": (a, b) => a.order - b.order,
    size: (a, b) => a.size - b.size || a.order - b.order,
    gain: (a, b) => b.gain - a.gain || a.order - b.order,
    loss: (a, b) => (a.ours ?? Infinity) - (b.ours ?? Infinity) || a.order - b.order,
  };

  const show = () => {
    const { family, cache, q, sort } = Object.fromEntries(new FormData(form));
    const words = q.toLowerCase().split(/\s+/).filter((word) => word);
    let count = 0;
    for (const { element, title, rows } of situations) {
      const data = element.dataset;
      const wanted = (!family || data.family === family) && (!cache || data.cache === cache);
      const left = words.filter((word) => !title.includes(word));
      for (const { row, text } of rows) row.hidden = !left.every((word) => text.includes(word));
      const any = left.length === 0 || rows.some(({ row }) => !row.hidden);
      element.hidden = !(wanted && any);
      // Unfold slower rows if some of them may match.
      const slower = element.querySelector(".slower");
      if (slower && left.length > 0) slower.open = true;
      count += element.hidden ? 0 : 1;
    }
    for (const part of find(".family")) part.hidden = Boolean(family) && part.dataset.family !== family;
    situations.sort((a, b) => (orders[sort] ?? orders[""])(a.element.dataset, b.element.dataset));
    list.append(...situations.map(({ element }) => element));
    form.querySelector("output").textContent = `${count} of ${situations.length} situations`;
  };

  const remember = () => {
    const chosen = [...new FormData(form)].filter(([, value]) => value);
    history.replaceState(null, "", `#${new URLSearchParams(chosen)}`);
  };

  // Unfolds everything around an element and resets filters that hide it.
  const reveal = (target) => {
    if (target.closest("[hidden]") && form) {
      form.reset();
      show();
    }
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView({ block: "start" });
  };

  const follow = () => {
    // Do not decode: anchors are plain letters, digits and hyphens, and URLSearchParams decodes by itself.
    const word = location.hash.slice(1);
    const target = word && document.getElementById(word);
    if (target) return reveal(target);
    if (!form || (word && !word.includes("="))) return;
    const requested = new URLSearchParams(word);
    for (const field of form.elements) if (field.name) field.value = requested.get(field.name) ?? "";
    show();
  };

  // Inserts the linked listing into a row when it is opened.
  const unfold = ({ target }) => {
    const link = target.open && target.matches?.(".row") && target.querySelector("a.code");
    const listing = link && document.getElementById(link.hash.slice(1))?.querySelector(":scope > div");
    if (!listing) return;
    const copy = listing.cloneNode(true);
    copy.className = "code";
    const title = document.createElement("b");
    title.textContent = link.textContent;
    link.replaceWith(title);
    title.parentElement.after(copy);
  };

  document.addEventListener("toggle", unfold, true);
  addEventListener("hashchange", follow);
  if (form) {
    form.hidden = false;
    form.addEventListener("input", () => (show(), remember()));
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  follow();
})();
