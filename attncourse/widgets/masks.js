// Masks: patterns put together, who sees whom, and how many pairs that makes.

const TOKENS = 12;
const NO_PADDING = { padding: 0, side: "right" };
const EXAMPLES = [
  ["full", NO_PADDING],
  ["causal", { ...NO_PADDING, causal: true }],
  ["local", { ...NO_PADDING, causal: true, window: 2 }],
  ["strided", { ...NO_PADDING, causal: true, window: 1, stride: 4 }],
  ["local + global", { ...NO_PADDING, window: 1, global_tokens: 1 }],
];

const QUESTION = "Which tokens see which, through how many layers, and at what cost?";

export default widget("masks", QUESTION, (root, model) => {
  const names = Array.from({ length: TOKENS }, (_, i) => String(i));
  const traits = ["causal", "window", "stride", "global_tokens", "padding", "side"];
  const parts = () => Object.fromEntries(traits.map((name) => [name, model.get(name)]));

  const controls = patternControls(model, { examples: EXAMPLES, count: TOKENS, unit: "token" });
  const side = traitChoice(model, "side", "Padding on the",
    [["right", "right"], ["left", "left"]]);
  const padding = traitSlider(model, "padding",
    { label: "positions of padding", min: 0, max: TOKENS - 1 });

  const grid = heatGrid({
    label: "Mask: rows are queries, columns are keys",
    rowLabels: names,
    columnLabels: names,
    onselect: (row, column) => save(model, { query: row, key: column }),
  });
  grid.table.classList.add("attn-mask");
  const line = report();
  const cell = el("p", {});
  const table = dataTable({ caption: "Which keys each query sees", summary: "The mask as a table" });
  root.append(
    ...controls.examples,
    el("div", { class: "attn-panels attn-mask-panels" },
      el("div", {}, grid.root, cell),
      el("div", {},
        el("div", { class: "attn-controls" }, controls.roots, padding.root, side))),
    line.root,
    remark("A mask alone saves nothing: all scores are computed and most are thrown away. The "
      + "pairs seen are those that a kernel which skips the others has to compute."),
    table.root,
  );

  const draw = () => {
    const now = parts();
    const [i, j] = [model.get("query"), model.get("key")];
    const mask = pattern(TOKENS, now);
    const needed = layersNeeded(mask);
    const real = (k) => (now.side === "right" ? k < TOKENS - now.padding : k >= now.padding);
    const seen = mask[i].flatMap((yes, k) => (yes ? [k] : []));
    const by = mask.flatMap((row, k) => (row[j] ? [k] : []));
    const empty = mask.flatMap((row, k) => (row.some(Boolean) ? [] : [k]));
    const pairs = mask.flat().filter(Boolean).length;
    const wanted = needed.flatMap((row, q) =>
      row.filter((_, k) => real(q) && real(k) && (!now.causal || k <= q)));
    const farthest = wanted.some((x) => x === 0) ? Infinity : Math.max(0, ...wanted);

    grid.select(i, j);
    grid.update(mask.map((row) => row.map(Number)), (w) => (w ? "1" : "·"), (w, row, column) =>
      `query ${row}, key ${column}: ${w ? "1, may see" : "·, hidden"}`);
    const steps = needed[i][j];
    const path = steps === 0 ? "never reaches it" : steps === 1 ? "reaches it in one layer"
      : `reaches it through ${steps} layers`;
    cell.replaceChildren(
      el("span", { class: "attn-query" }, `Query ${i}`), ` sees ${list(seen)}. `,
      el("span", { class: "attn-key" }, `Key ${j}`), ` is seen by ${list(by)}, and `,
      `${path.replace("it", `token ${i}`)}.`);
    const each = now.padding ? "real token" : "token";
    const reach = now.padding === TOKENS - 1 ? "Only one token is not padding"
      : farthest === Infinity ? `Between some ${each}s no information passes`
        : `Every ${each} is reached from every ${now.causal ? "earlier one" : "other"} within `
          + `${farthest} ${farthest === 1 ? "layer" : "layers"}`;
    const nothing = empty.length ? ` Rows in which every key is hidden: ${list(empty)}.` : "";
    const share = `${number((100 * pairs) / TOKENS ** 2, 0)}%`;
    line.say(
      `${reach}. `,
      el("span", { class: "attn-number", "data-read": "pairs" }, String(pairs)),
      ` of ${TOKENS ** 2} pairs are seen, ${share}.${nothing}`,
    );
    table.update(["query", "sees", "is reached from (in layers)"], mask.map((row, q) => [
      String(q),
      list(row.flatMap((yes, k) => (yes ? [k] : []))),
      needed[q].map((x, k) => (x > 1 ? `${k} in ${x}` : null)).filter(Boolean).join(", ") || "–",
    ]));
  };
  live(model, [...traits, "query", "key"], draw);
});
