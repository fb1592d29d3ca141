// Small pictures of heads, side by side, each with a switch.

/** Call `redraw` when the page turns dark or light; returns a function that ends it. */
function onTheme(redraw) {
  const observer = new MutationObserver(redraw);
  const watched = ["data-theme", "class", "theme", "data-jp-theme-light"];
  for (const node of [document.documentElement, document.body]) {
    observer.observe(node, { attributes: true, attributeFilter: watched });
  }
  return () => observer.disconnect();
}

/** One head: a button with its picture, and a box that switches it off. */
function headTile({ name, label, short, onshow, onswitch }) {
  const canvas = el("canvas", { width: 1, height: 1, "aria-hidden": "true" });
  const note = el("span", { class: "attn-note" });
  const show = el("button", {
    type: "button", class: "attn-picture", "aria-pressed": "false",
    "aria-label": `Show ${label}`, onclick: () => onshow(name),
  }, canvas, note);
  const input = el("input", { type: "checkbox", "aria-label": `${label} is on` });
  input.checked = true;
  input.addEventListener("change", () => onswitch(name, input.checked));
  const box = el("label", { class: "attn-switch" }, input, el("span", {}, short));
  const root = el("div", { class: "attn-tile", "data-head": name }, show, box);
  let last = null;
  const draw = (rows) => {
    last = rows;
    canvas.width = Math.max(1, ...rows.map((row) => row.length));
    canvas.height = Math.max(1, rows.length);
    const pen = canvas.getContext("2d");
    pen.fillStyle = getComputedStyle(canvas).getPropertyValue("--attn-full").trim();
    rows.forEach((row, y) =>
      row.forEach((weight, x) => {
        pen.globalAlpha = Math.min(1, weight);
        pen.fillRect(x, y, 1, 1);
      }));
  };
  const set = ({ on, shown }) => {
    input.checked = on;
    root.classList.toggle("attn-off", !on);
    show.setAttribute("aria-pressed", String(shown));
  };
  return { name, label, root, draw, set, note, redraw: () => last && draw(last) };
}

/** Tiles in groups: [{ legend, heads: [{ name, label, short }] }]. */
function headTiles({ groups, onshow, onswitch }) {
  const tiles = new Map();
  const parts = groups.map(({ legend, heads }) => {
    const row = heads.map((head) => {
      const tile = headTile({ ...head, onshow, onswitch });
      tiles.set(head.name, tile);
      return tile.root;
    });
    const cells = el("div", { class: "attn-tiles" }, row);
    return el("fieldset", {}, el("legend", { class: "attn-heading" }, legend), cells);
  });
  return { root: el("div", { class: "attn-panels" }, parts), tiles };
}

/** Cut the weights of one head out of (heads × queries × keys), as rows. */
function rowsOf(weights, head, queries, keys) {
  return Array.from({ length: queries }, (_, q) => {
    const from = (head * queries + q) * keys;
    return Array.from(weights.subarray(from, from + keys));
  });
}
