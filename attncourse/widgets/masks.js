// Masks: patterns put together, who sees whom, and what it costs.

const TOKENS = 12;

/** The mask as rows of booleans; window and stride may be null, which leaves them out. */
export function pattern(n, { causal, padding, side, window, global_tokens, stride }) {
  const everything = window === null && stride === null && global_tokens === 0;
  const real = (j) => (side === "right" ? j < n - padding : j >= padding);
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) =>
      (everything
        || (window !== null && Math.abs(i - j) <= window)
        || (stride !== null && (i - j) % stride === 0)
        || i < global_tokens || j < global_tokens)
      && (!causal || j <= i)
      && real(j)));
}

/** Count the j from first to last for which i − j is a multiple of the stride. */
function multiples(i, stride, first, last) {
  if (last < first) return 0;
  return Math.floor((last - i) / stride) - Math.floor((first - 1 - i) / stride);
}

/** Count the pairs of a pattern without padding, without making the mask. */
export function pairCount(n, { causal, window, global_tokens, stride }) {
  const everything = window === null && stride === null && global_tokens === 0;
  let total = 0;
  for (let i = 0; i < n; i += 1) {
    const last = causal ? i : n - 1;
    if (everything || i < global_tokens) {
      total += last + 1;
      continue;
    }
    const top = Math.min(global_tokens - 1, last); // global keys are 0 … top
    const firstLocal = Math.max(0, i - (window ?? 0), top + 1);
    const lastLocal = Math.min(last, i + (window ?? 0));
    total += top + 1;
    if (window !== null) total += Math.max(0, lastLocal - firstLocal + 1);
    if (stride !== null) {
      total += multiples(i, stride, top + 1, last);
      if (window !== null) total -= multiples(i, stride, firstLocal, lastLocal);
    }
  }
  return total;
}

/** Through how many layers each key reaches each query; 0 where it never does. */
export function layersNeeded(mask) {
  const n = mask.length;
  const needed = mask.map((row) => row.map((seen) => (seen ? 1 : 0)));
  for (let layer = 2; layer <= n; layer += 1) {
    const before = needed.map((row) => row.map((x) => x > 0 && x < layer));
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j < n; j += 1) {
        if (needed[i][j]) continue;
        if (before[i].some((reached, k) => reached && mask[k][j])) needed[i][j] = layer;
      }
    }
  }
  return needed;
}

const OFF = { causal: false, padding: 0, side: "right", window: null, global_tokens: 0, stride: null };
const EXAMPLES = [
  ["full", {}],
  ["causal", { causal: true }],
  ["local", { causal: true, window: 2 }],
  ["strided", { causal: true, window: 1, stride: 4 }],
  ["local + global", { window: 1, global_tokens: 1 }],
];

function list(places) {
  return places.length ? places.join(", ") : "nothing";
}

function render({ model, el: place }) {
  const root = frame(place, {
    name: "masks",
    question: "Which pattern lets every token hear from every token within two layers, "
      + "at the lowest cost?",
  });
  const names = Array.from({ length: TOKENS }, (_, i) => String(i));
  const set = (values) => save(model, values);
  const parts = () =>
    Object.fromEntries(Object.keys(OFF).map((name) => [name, model.get(name)]));

  const examples = el("div", { class: "attn-options" }, EXAMPLES.map(([name, values]) =>
    el("button", { type: "button", onclick: () => set({ ...OFF, ...values }) }, name)));
  const causal = choice({
    legend: "Direction",
    options: [["past", "past only"], ["both", "both ways"]],
    value: "past",
    onchange: (name) => set({ causal: name === "past" }),
  });
  const side = choice({
    legend: "Padding on the",
    options: [["right", "right"], ["left", "left"]],
    value: "right",
    onchange: (name) => set({ side: name }),
  });
  const optional = (label, name, min) => slider({
    label, min: min - 1, max: TOKENS - 1, step: 1, value: min - 1,
    write: (x) => (x < min ? "off" : String(x)),
    oninput: (x) => set({ [name]: x < min ? null : x }),
  });
  const window_ = optional("local: farthest distance", "window", 0);
  const stride = optional("strided: every so many places", "stride", 2);
  const global = slider({
    label: "global: first tokens", min: 0, max: 4, step: 1, value: 0,
    write: (x) => (x === 0 ? "off" : String(x)),
    oninput: (x) => set({ global_tokens: x }),
  });
  const padding = slider({
    label: "places of padding", min: 0, max: TOKENS - 1, step: 1, value: 0,
    oninput: (x) => set({ padding: x }),
  });

  const grid = heatGrid({
    label: "Mask: rows are queries, columns are keys",
    rowLabels: names,
    columnLabels: names,
    onselect: (row, column) => set({ query: row, key: column }),
  });
  grid.table.classList.add("attn-mask");
  const line = report();
  const cell = el("p", {});
  const cost = el("tbody", {});
  const table = dataTable({ caption: "Who sees whom", summary: "The mask as a table" });
  root.append(
    el("p", { class: "attn-heading" }, "Examples to start from"), examples,
    el("div", { class: "attn-panels attn-mask-panels" },
      el("div", {}, grid.root, cell),
      el("div", {},
        el("div", { class: "attn-controls" }, window_.root, global.root, stride.root,
          padding.root, causal.root, side.root))),
    line.root,
    el("div", { class: "attn-scroll", tabindex: "0", role: "region",
      "aria-label": "Cost at three lengths" },
    el("table", { class: "attn-data" },
      el("caption", {}, "Cost of the pattern without padding: pairs of one head, and its "
        + "scores in 32 bits"),
      el("thead", {}, el("tr", {}, ["tokens", "pairs seen", "of all", "memory"].map((text) =>
        el("th", { scope: "col" }, text)))),
      cost)),
    el("p", { class: "attn-muted attn-small" },
      "A mask alone saves nothing: all scores are made and most thrown away. The pairs "
      + "seen are what a kernel has to compute that skips the others."),
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

    causal.set(now.causal ? "past" : "both");
    side.set(now.side);
    window_.set(now.window ?? -1);
    stride.set(now.stride ?? 1);
    global.set(now.global_tokens);
    padding.set(now.padding);
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
    const reach = now.padding === TOKENS - 1 ? "One token is real, with no other to hear from"
      : farthest === Infinity ? `Some ${each}s never hear from others`
        : `Every ${each} hears from every ${now.causal ? "earlier one" : "other"} within `
          + `${farthest} ${farthest === 1 ? "layer" : "layers"}`;
    const nothing = empty.length ? ` Rows with nothing to see: ${list(empty)}.` : "";
    const share = `${number((100 * pairs) / TOKENS ** 2, 0)} %`;
    line.say(
      `${reach}. ${pairs} of ${TOKENS ** 2} pairs are seen.${nothing} Query ${i} sees ${list(seen)}.`,
      `${reach}. `,
      el("span", { class: "attn-number", "data-read": "pairs" }, String(pairs)),
      ` of ${TOKENS ** 2} pairs are seen, ${share}.${nothing}`,
    );
    cost.replaceChildren(...[TOKENS, 1024, 16384].map((n) => {
      const count = pairCount(n, now);
      const percent = (100 * count) / n ** 2;
      return el("tr", {},
        el("th", { scope: "row" }, whole(n)),
        el("td", { "data-read": `pairs-${n}` }, whole(count)),
        el("td", {}, `${Number(percent.toPrecision(2))} %`),
        el("td", {}, memory(4 * count)));
    }));
    table.update(["query", "sees", "hears from, layers"], mask.map((row, q) => [
      String(q),
      list(row.flatMap((yes, k) => (yes ? [k] : []))),
      needed[q].map((x, k) => (x > 1 ? `${k} in ${x}` : null)).filter(Boolean).join(", ") || "–",
    ]));
  };
  const stop = watch(model, [...Object.keys(OFF), "query", "key"], draw);
  draw();
  return stop;
}

function memory(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  let unit = 0;
  let size = bytes;
  while (size >= 1000 && unit < 3) {
    size /= 1000;
    unit += 1;
  }
  return `${Number(size.toPrecision(3))} ${units[unit]}`;
}

export default { render };
