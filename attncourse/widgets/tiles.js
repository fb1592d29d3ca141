// Small pictures of heads, side by side, each with a switch.

/** Call `redraw` when the page turns dark or light. */
function onTheme(model, redraw) {
  const observer = new MutationObserver(redraw);
  const watched = ["data-theme", "class", "theme", "data-jp-theme-light"];
  for (const node of [document.documentElement, document.body]) {
    observer.observe(node, { attributes: true, attributeFilter: watched });
  }
  model.ends.push(() => observer.disconnect());
}

/** One head: a button with its picture, and a box that switches it off. */
function headTile({ name, label, short, onshow, onswitch }) {
  const canvas = el("canvas", { width: 1, height: 1, "aria-hidden": "true" });
  const note = el("span", { class: "attn-note" });
  const show = button([el("span", { class: "attn-hidden" }, `Show ${label}`), canvas, note],
    () => onshow(name), { class: "attn-picture", "aria-pressed": "false" });
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
  return { name, label, root, draw, set, note, show, input, redraw: () => last && draw(last) };
}

/** Let the arrow keys walk over all tiles, so that Tab reaches one of them only: left
    and right to the next head, up and down between its picture and its switch. */
function walkTiles(root, tiles) {
  const parts = ["show", "input"].map((part) => [...tiles.values()].map((tile) => tile[part]));
  const all = parts.flat();
  const settle = (node) => all.forEach((one) => (one.tabIndex = one === node ? 0 : -1));
  settle(all[0]);
  root.addEventListener("focusin", (event) => {
    if (all.includes(event.target)) settle(event.target);
  });
  root.addEventListener("keydown", (event) => {
    const row = parts.findIndex((line) => line.includes(event.target));
    if (row < 0) return;
    const to = arrowKeys(event, parts, row, parts[row].indexOf(event.target));
    if (to) parts[to[0]][to[1]].focus();
  });
}

/** Groups of tiles for layers that are built alike. */
function layerGroups(prefix, layers, heads) {
  return Array.from({ length: layers }, (_, layer) => ({
    legend: `Layer ${layer}`,
    heads: Array.from({ length: heads }, (__, h) => ({
      name: `${prefix}.${layer}.${h}`, label: `layer ${layer}, head ${h}`, short: `${h}`,
    })),
  }));
}

/** Tiles in groups: [{ legend, heads: [{ name, label, short }] }]. They set the traits
    `head`, the one that is shown, and `off`, those that are switched off. */
function headTiles(model, groups) {
  const tiles = new Map();
  const onshow = (head) => save(model, { head });
  const onswitch = (name, on) => {
    const off = model.get("off").filter((one) => one !== name);
    save(model, { off: on ? off : [...off, name].sort() });
  };
  const parts = groups.map(({ legend, heads }) => {
    const row = heads.map((head) => {
      const tile = headTile({ ...head, onshow, onswitch });
      tiles.set(head.name, tile);
      return tile.root;
    });
    const cells = el("div", { class: "attn-tiles" }, row);
    return el("fieldset", {}, el("legend", { class: "attn-heading" }, legend), cells);
  });
  const root = el("div", { class: "attn-panels", role: "toolbar", "aria-label": "Heads" }, parts);
  walkTiles(root, tiles);
  onTheme(model, () => tiles.forEach((tile) => tile.redraw()));
  const hint = remark("Choose a picture to see where it looks; "
    + "clear the box below it to ablate the head. By keyboard, use the arrow keys.");
  return { root: el("div", {}, hint, root), tiles };
}

/** Draw every head, and whether it is on and shown; `rowsOf(name)` returns its weights. */
function drawTiles(model, tiles, rowsOf) {
  for (const [name, tile] of tiles) {
    tile.draw(rowsOf(name));
    tile.set({ on: !model.get("off").includes(name), shown: name === model.get("head") });
  }
}

/** A sign or a word in the colour of its weight, with a number below; framed if known. */
function guess(weight, known, word, below) {
  const marks = `${known ? " attn-known" : ""}${/^[.,?]$/.test(word) ? " attn-stop" : ""}`;
  const node = el("span", { class: `attn-guess${marks}` }, word, el("span", {}, below));
  paint(node, weight);
  return node;
}

/** A button that goes on to the next of the widget's examples. */
function anotherExample(model, trait, label, before = () => {}) {
  return button(label, () => {
    before();
    const all = model.get("examples");
    save(model, { [trait]: all[(all.indexOf(model.get(trait)) + 1) % all.length] });
  });
}

/** A button that switches all heads on; `more` are further traits to reset. */
function allHeadsOn(model, label = "All heads on", more = {}) {
  return button(label, () => save(model, { off: [], ...more }));
}

/** The weights of one head in per cent, with its widest weight in `row` selected. */
function percentGrid({ label, rows, rowLabels, columnLabels, row, onselect, name }) {
  const grid = heatGrid({ label, rowLabels, columnLabels, onselect });
  grid.table.classList.add("attn-dense");
  const percent = (x) => Math.round(100 * x).toString();
  grid.update(rows, (x) => (x < 0.005 ? "" : percent(x)),
    (x, q, k) => `${name(q, k)}: ${percent(x)} per cent`);
  grid.select(row, largest(rows[row]));
  return grid;
}

/** Cut the weights of one head out of (heads × queries × keys), as rows. */
function rowsOf(weights, head, queries, keys) {
  return Array.from({ length: queries }, (_, q) => {
    const from = (head * queries + q) * keys;
    return Array.from(weights.subarray(from, from + keys));
  });
}

/** The small language model whose weights came with a widget. */
function smallModel(model) {
  const tensors = readTensors(fromBase64(model.get("weights")));
  return new LanguageModel(tensors, { heads: model.get("heads") });
}

/** A field for a sequence of signs: { root, read(least, most) }, which returns the text and
    its tokens, or says why it is refused. */
function signField(model, label) {
  const signs = model.get("signs");
  const { root } = traitField(model, "text", label,
    { autocomplete: "off", autocapitalize: "characters", maxlength: 60 });
  const read = (least, most) => {
    const plain = model.get("text").replace(/\s/g, "");
    const text = signs === signs.toUpperCase() ? plain.toUpperCase() : plain;
    const unknown = [...text].find((one) => !signs.includes(one));
    if (unknown !== undefined) {
      return { refused: `The model does not know “${unknown}”. It knows ${signs[0]} to ${signs.at(-1)}.` };
    }
    if (text.length < least || text.length > most) {
      return { refused: `Write ${least} to ${most} symbols; there are ${text.length} now.` };
    }
    return { text, ids: [...text].map((one) => 1 + signs.indexOf(one)) };
  };
  return { root, read };
}
