// Sparse patterns of blocks: what an output can depend on, layer by layer, and the cost.

const BLOCKS = 24; // of the drawings
const SIZE = 64; // tokens of a block
const WIDTH = 512; // features of a token
const HEADS = 8;
const LAYERS = 4; // of the drawing of what is reached
const CELL = 12; // pixels
const RISE = 44; // pixels from layer to layer
const LEFT = 58; // pixels beside the layers
const EXAMPLES = [
  ["full", { dilation: 1 }],
  ["window", { dilation: 1, window: 2 }],
  ["dilated window", { dilation: 3, window: 2 }],
  ["window + stride", { dilation: 1, window: 2, stride: 5 }],
  ["window + global", { dilation: 1, window: 1, global_tokens: 1 }],
];

/** What a layer costs at `n` tokens, all pairs and those of the pattern. */
export function costs(n, parts) {
  const { causal } = parts;
  const pairs = [{ ...OFF, causal }, parts].map((one) => SIZE ** 2 * pairCount(n / SIZE, one));
  const [full, sparse] = pairs.map((count) => ({
    pairs: count, multiplications: 2 * count * WIDTH, bytes: 4 * count * HEADS }));
  return { full, sparse, projections: 4 * n * WIDTH ** 2, output: 4 * n * WIDTH };
}

const counted = (x) => scaled(x, ["", "thousand", "million", "billion", "trillion"]);

/** A square of small cells, the seen ones filled, in `size` pixels. */
function thumbnail(mask, size, ...more) {
  const d = mask.flatMap((row, i) => row.map((seen, j) =>
    (seen ? `M${j * CELL} ${i * CELL}h${CELL - 1}v${CELL - 1}h${1 - CELL}z` : ""))).join("");
  const side = BLOCKS * CELL;
  return svg("svg", { viewBox: `0 0 ${side} ${side}`, width: size, "aria-hidden": "true" },
    svg("rect", { width: side, height: side, class: "attn-node" }),
    svg("path", { d, class: "attn-seen" }), ...more);
}

const QUESTION = "Which pattern lets every output depend on every input after a few layers, at low cost?";

export default widget("sparse", QUESTION, (root, model) => {
  const traits = ["causal", "window", "stride", "global_tokens", "dilation"];
  const controls = patternControls(model, { examples: EXAMPLES, count: BLOCKS, unit: "block" });
  const [local, ...others] = controls.roots;
  const slide = (trait, label, min, max, write) =>
    traitSlider(model, trait, { label, min, max, write }).root;
  const dilation = slide("dilation", "dilation of the local window", 1, 8);
  const query = slide("query", "output that is followed", 0, BLOCKS - 1, (x) => `block ${x}`);
  const length = slide("doublings", "length", 9, 18, (x) => `${whole(2 ** x)} tokens`);
  const grid = el("div", {});
  const reach = svg("svg", { role: "img", width: LEFT + BLOCKS * CELL,
    viewBox: `0 0 ${LEFT + BLOCKS * CELL} ${LAYERS * RISE + 16}` });
  const line = report();
  const table = dataTable({ summary: "What is reached, as a table",
    caption: "Blocks on which the output can depend" });
  const cost = el("tbody", {});
  root.append(...controls.examples,
    el("div", { class: "attn-controls" }, local, dilation, others, query),
    el("div", { class: "attn-panels" },
      el("div", {}, heading("The pattern: rows are queries, columns are keys"), grid),
      el("div", {}, heading("Inputs on which the output can depend"), reach)),
    line.root, table.root, length,
    scrollable("Cost", el("table", { class: "attn-data attn-cost" },
      el("caption", {}, `One layer of width ${WIDTH} with ${HEADS} heads; a cell of the `
        + `pattern is a block of ${SIZE} × ${SIZE} tokens, computed as a whole`),
      el("thead", {}, headRow(["", "multiplications", "memory"])), cost)),
    remark("The counts are those of a kernel that skips all other blocks; a mask alone "
      + "saves nothing. The memory is that of their scores in 32 bits, if these are kept. "
      + "A fused kernel keeps none of them."));

  const column = (j) => LEFT + (j + 0.5) * CELL;
  const follow = (size) => Array.from({ length: BLOCKS }, (_, i) => svg("rect", {
    ...size(i), class: "attn-pick", onclick: () => save(model, { query: i }) }));

  const draw = () => {
    const now = Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const [i, n] = [model.get("query"), 2 ** model.get("doublings")];
    const mask = pattern(BLOCKS, now);
    const needed = layersNeeded(mask)[i];
    const within = (layers) => needed.flatMap((x, j) =>
      ((layers ? x && x <= layers : j === i) ? [j] : []));
    grid.replaceChildren(thumbnail(mask, BLOCKS * CELL,
      svg("rect", { y: i * CELL - 1, width: BLOCKS * CELL, height: CELL + 1, class: "attn-row" }),
      ...follow((row) => ({ y: row * CELL, width: BLOCKS * CELL, height: CELL }))));

    const level = (k) => 8 + k * RISE;
    const rows = Array.from({ length: LAYERS + 1 }, (_, k) => within(k));
    reach.replaceChildren(
      ...rows.slice(0, -1).map((from, k) => svg("path", {
        class: "attn-link",
        d: from.flatMap((p) => mask[p].map((seen, j) =>
          (seen ? `M${column(p)} ${level(k)}L${column(j)} ${level(k + 1)}` : ""))).join(""),
      })),
      ...rows.flatMap((reached, k) => [
        svg("text", { x: 0, y: level(k) + 4, style: "font-size: 13.5px" },
          k === 0 ? "output" : `${k} layer${k > 1 ? "s" : ""}`),
        ...Array.from({ length: BLOCKS }, (_, j) => svg("circle", {
          cx: column(j), cy: level(k), r: 4.5,
          class: reached.includes(j) ? "attn-node attn-seen" : "attn-node" })),
      ]),
      ...follow((j) => ({ x: LEFT + j * CELL, width: CELL, height: LAYERS * RISE + 16 })));
    const all = within(BLOCKS).length;
    const steps = rows.slice(1).map(({ length: count }, k) =>
      (k ? `on ${count} through ${k + 1}` : `${count} of ${BLOCKS} blocks through 1 layer`));
    const last = Math.max(...needed);
    const words = `Output ${i} can depend on ${steps.slice(0, last).join(", ")}`
      + `${last > LAYERS ? `; all ${all} need ${last} layers` : ""}.`
      + `${all < (now.causal ? i + 1 : BLOCKS) ? " The others never reach it." : ""}`;
    reach.setAttribute("aria-label", words);
    const { full, sparse, projections, output } = costs(n, now);
    const share = Number(((100 * sparse.pairs) / full.pairs).toPrecision(2));
    line.say(`${words} At ${whole(n)} tokens the pattern has ${share}% of the pairs.`);
    table.update(["layers", "how many", "which"], rows.slice(1).map((reached, k) =>
      [String(k + 1), String(reached.length), list(reached)]));
    const everything = pattern(BLOCKS, { ...OFF, causal: now.causal });
    const most = Math.max(full.multiplications, projections);
    const cell = (x, of, text) => (x === null ? "–" : [text(x), el("br"), bar(x / of)]);
    cost.replaceChildren(...[
      [thumbnail(everything, 40), "full\u00a0attention", full.multiplications, full.bytes],
      [thumbnail(mask, 40), "this\u00a0pattern", sparse.multiplications, sparse.bytes],
      [null, "the four projections", projections, null],
      [null, "fused kernel: output", null, output],
    ].map(([image, name, multiplications, bytes]) => tableRow([image, name],
      cell(multiplications, most, counted), cell(bytes, full.bytes, memory))));
  };
  live(model, [...traits, "query", "doublings"], draw);
});
