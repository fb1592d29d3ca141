// Saturation: wider queries and keys, larger scores, a softmax that stops learning.

const WIDTHS = Array.from({ length: 11 }, (_, power) => 2 ** power); // 1 to 1024
const [QUERIES, KEYS] = [24, 16];

function normalRow(seed, start, count) {
  const row = new Float64Array(count);
  for (let i = 0; i < count; i += 2) [row[i], row[i + 1]] = normalPair(seed, start + i);
  return row;
}

/** Add the dot products of one more query to { width: [[…]] }. */
function addQuery(result, seed) {
  const widest = WIDTHS[WIDTHS.length - 1];
  const q = result[1].length;
  const start = q * (1 + KEYS) * widest;
  const query = normalRow(seed, start, widest);
  for (const width of WIDTHS) result[width].push([]);
  for (let k = 0; k < KEYS; k += 1) {
    const key = normalRow(seed, start + (1 + k) * widest, widest);
    let sum = 0;
    for (let i = 0; i < widest; i += 1) {
      sum += query[i] * key[i];
      if (((i + 1) & i) === 0) result[i + 1][q].push(sum); // i + 1 is a power of two
    }
  }
}

/** The dot products of random queries and keys at each width, { width: [[…]] }, with pauses
    in which the page can do something else. */
export async function products(seed) {
  const result = Object.fromEntries(WIDTHS.map((width) => [width, []]));
  for (let q = 0; q < QUERIES; q += 1) {
    addQuery(result, seed);
    await new Promise((resume) => setTimeout(resume));
  }
  return result;
}

/** Variance of the scores; entropy and slope of their softmax: means of all rows. */
export function measures(scores) {
  let [variance, entropy, slope] = [0, 0, 0];
  for (const row of scores) {
    for (const score of row) variance += score * score;
    for (const w of softmax(row)) {
      if (w > 0) entropy -= (w * Math.log(w)) / Math.log(row.length);
      slope += w * (1 - w);
    }
  }
  const count = scores.length * scores[0].length;
  return [variance / count, entropy / scores.length, slope / count];
}

export function measuresAt(drawn, power) {
  return WIDTHS.map((width) =>
    measures(drawn[width].map((row) => row.map((x) => x / width ** power))));
}

const CURVES = [
  ["", "divided by √d_k"],
  ["attn-second", "not divided"],
  ["attn-third", "yours"],
];

const QUESTION = "By which power of the width must scores be divided, so that the softmax does not "
  + "saturate?";

export default widget("saturation", QUESTION, async (root, model) => {
  root.hidden = true; // until there is something to be seen
  let kept = {};
  const x = { label: "width d_k", min: 1, max: 1024, log: true, ticks: [1, 4, 16, 64, 256, 1024] };
  const entropyChart = lineChart({
    x, y: { label: "entropy of the weights (1 = even)", min: 0, max: 1 } });
  const slopeChart = lineChart({ x, y: { label: "slope of the softmax", min: 0, max: 0.06 } });
  const width = traitSlider(model, "width", { label: "width d_k", min: 0, max: 10,
    place: Math.log2, value: (x) => 2 ** x, write: (x) => String(2 ** x) });
  const power = traitSlider(model, "power", { label: "divide by d_k to the power",
    min: 0, max: 1, step: 0.05, write: (value) => number(value, 2) });
  const query = traitSlider(model, "query", { label: "query", min: 0, max: QUERIES - 1 });
  const again = button("Draw other vectors", () =>
    save(model, { seed: (model.get("seed") + 1) % 10000 }));
  const line = report();
  const bars = el("div", { class: "attn-panels attn-triple" });
  const table = dataTable({ caption: "Measures at each width" });
  root.append(
    el("div", { class: "attn-controls" }, power.root, width.root),
    line.root,
    legend(CURVES),
    el("div", { class: "attn-panels" },
      el("div", {}, entropyChart.root), el("div", {}, slopeChart.root)),
    heading("The weights of one query on 16 keys, at this width"),
    el("div", { class: "attn-controls" }, query.root),
    bars,
    again,
    table.root,
  );

  const draw = () => {
    const at = model.get("width");
    const p = model.get("power");
    const index = WIDTHS.indexOf(at);
    const yours = measuresAt(kept.drawn, p);
    const curves = [kept.root, kept.plain, yours];
    const series = (n) => curves.map((rows, c) => ({
      points: WIDTHS.map((w, i) => [w, rows[i][n]]), style: CURVES[c][0] }));
    const words = (name, n) => `${name} at width ${at}: ` + curves.map((rows, c) =>
      `${CURVES[c][1]} ${number(rows[index][n], 3)}`).join(", ");
    entropyChart.update(series(1), at, words("Entropy", 1));
    slopeChart.update(series(2), at, words("Slope", 2));
    bars.replaceChildren(...[0.5, 0, p].map((q, c) => {
      const weights = softmax(kept.drawn[at][model.get("query")].map((score) => score / at ** q));
      return el("div", {}, remark(CURVES[c][1]), weightBars(weights, CURVES[c]));
    }));
    const [variance, entropy, slope] = yours[index];
    const spread = variance.toPrecision(3).includes("e") ? whole(variance)
      : String(Number(variance.toPrecision(3)));
    line.say(
      `Divided by ${at} to the power ${number(p, 2)}, the scores have variance `,
      el("span", { class: "attn-number", "data-read": "variance" }, spread),
      ". Entropy ", el("span", { class: "attn-number", "data-read": "entropy" },
        number(entropy, 3)),
      ", slope ", el("span", { class: "attn-number", "data-read": "slope" },
        number(slope, 4)), ".",
    );
    table.update(
      ["width", "entropy, √d_k", "not divided", "yours", "slope, √d_k", "not divided", "yours"],
      WIDTHS.map((w, i) => [
        String(w),
        ...curves.map((rows) => number(rows[i][1], 3)),
        ...curves.map((rows) => number(rows[i][2], 4)),
      ]),
    );
  };
  const drawVectors = async () => {
    const drawn = await products(model.get("seed"));
    kept = { drawn, root: measuresAt(drawn, 0.5), plain: measuresAt(drawn, 0) };
    draw();
  };
  await drawVectors();
  root.hidden = false;
  watch(model, ["width", "power", "query"], draw);
  watch(model, ["seed"], drawVectors);
});

function weightBars(weights, [style, name]) {
  const [width, height] = [200, 60];
  const step = width / weights.length;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, role: "img",
    preserveAspectRatio: "none",
    "aria-label": `${name}: the largest of 16 weights is ${number(Math.max(...weights), 3)}` },
  weights.map((w, i) => svg("rect", { class: `attn-dot ${style}`, x: i * step + 1,
    y: height - 1 - w * (height - 2), width: step - 2, height: Math.max(0.5, w * (height - 2)) })),
  svg("path", { class: "attn-axis", d: `M0 ${height - 0.5}H${width}` }));
}
