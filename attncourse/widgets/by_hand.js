// Attention, by hand: six tokens of three numbers, every step on one screen.

const IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

/** Multiply a list of rows with a matrix. */
function matmul(rows, matrix) {
  return rows.map((row) =>
    matrix[0].map((_, column) => dot(row, matrix.map((line) => line[column]))),
  );
}

/** Compute every step from the state of the widget. */
export function attention({ vectors, maps, scaled, temperature }) {
  const [queries, keys, values] = maps.map((map) => matmul(vectors, map));
  const products = queries.map((q) => keys.map((k) => dot(q, k)));
  const divisor = (scaled ? Math.sqrt(vectors[0].length) : 1) * temperature;
  const scores = products.map((row) => row.map((x) => x / divisor));
  const weights = scores.map(softmax);
  const output = matmul(weights, values);
  return { queries, keys, values, products, scores, weights, output };
}

/** Say whether the three maps leave the vectors as they are. */
function nothing(maps) {
  return JSON.stringify(maps) === JSON.stringify([IDENTITY, IDENTITY, IDENTITY]);
}

const QUESTION = "Which token does each token attend to, and what would change that?";

export default widget("by-hand", QUESTION, (root, model) => {
  const tokens = model.get("tokens");
  const given = ["query_map", "key_map", "value_map"].map((name) => model.get(name));
  const state = () => ({
    vectors: model.get("vectors"),
    maps: model.get("use_maps") ? given : [IDENTITY, IDENTITY, IDENTITY],
    scaled: model.get("scaled"),
    temperature: model.get("temperature"),
  });

  // Controls: one token's vector, the scale, the temperature.
  const vectorTitle = heading();
  const features = [0, 1, 2].map((feature) => slider({
    label: `element ${feature + 1}`, min: -2, max: 2, step: 0.001, value: 0,
    write: (x) => number(x, 3),
    oninput: (x) => {
      const rows = model.get("vectors").map((row) => [...row]);
      rows[model.get("query")][feature] = x;
      save(model, { vectors: rows });
    },
  }));
  const temperature = traitSlider(model, "temperature", {
    label: "temperature", min: 0.1, max: 5, step: 0.1, write: (x) => number(x, 1) });
  const scale = traitChoice(model, "scaled", "Scores are divided by",
    [[true, "√3"], [false, "nothing"]]);
  const maps = traitChoice(model, "use_maps", "What is compared",
    [[true, "queries and keys"], [false, "the vectors themselves"]]);
  const before = { vectors: model.get("vectors") };
  const reset = button("Start again", () =>
    save(model, { ...before, scaled: true, temperature: 1, use_maps: true }));

  const grid = heatGrid({
    label: "Weights: rows are queries, columns are keys", rowLabels: tokens, columnLabels: tokens,
    onselect: (row, column) => save(model, { query: row, key: column }),
  });
  const steps = el("ol", { class: "attn-steps" });
  const bars = el("div", { class: "attn-bars" });
  const line = report();
  const table = dataTable({ caption: "Vector, score, weight and value of each token" });

  root.append(
    remark("Choose a cell: its row is the query, its column the key. Arrow keys move."),
    el("div", { class: "attn-panels" }, grid.root,
      el("div", {}, vectorTitle, features.map((f) => f.root), temperature.root, scale,
        nothing(given) ? null : maps, reset)),
    line.root,
    el("div", { class: "attn-panels" },
      el("div", {}, heading("The arithmetic of this cell"), steps),
      el("div", {}, heading("The output of this query"), bars, remark(
        "Each piece is the contribution of one token, palest for the first; the line is the sum."))),
    table.root,
  );

  const draw = () => {
    const i = Math.min(model.get("query"), tokens.length - 1);
    const j = Math.min(model.get("key"), tokens.length - 1);
    const now = state();
    const seen = attention(now);
    const [asks, asked] = [tokens[i], tokens[j]];

    vectorTitle.textContent = `The vector of ${asks}`;
    features.forEach((feature, n) => feature.set(now.vectors[i][n]));

    grid.select(i, j);
    grid.update(seen.weights, (w) => number(w, 2), (w, row, column) =>
      `${tokens[row]} attends to ${tokens[column]}: ${number(w, 2)}`);

    const factors = seen.queries[i].map((q, n) =>
      `${bracket(q)} · ${bracket(seen.keys[j][n])}`);
    const exponentials = seen.scores[i].map((s) => Math.exp(s - Math.max(...seen.scores[i])));
    const total = exponentials.reduce((sum, x) => sum + x, 0);
    const divisors = [now.scaled ? "√3" : null,
      now.temperature === 1 ? null : number(now.temperature, 1)].filter((x) => x);
    steps.replaceChildren(
      el("li", {}, "Product: ", ...coloured(asks, asked), " = ", factors.join(" + "), " = ",
        strong(seen.products[i][j], 3)),
      el("li", {}, "Score: ", divisors.length
        ? `${number(seen.products[i][j], 3)} ÷ ${divisors.join(" ÷ ")} = `
        : "not divided, ", strong(seen.scores[i][j], 3)),
      el("li", {}, "Minus the largest of the row, then the exponential: ",
        `exp(${number(seen.scores[i][j] - Math.max(...seen.scores[i]), 3)}) = `,
        strong(exponentials[j], 3)),
      el("li", {}, "Divided by the sum of the row: ", `${number(exponentials[j], 3)} ÷ ${number(total, 3)} = `,
        strong(seen.weights[i][j], 3)),
      el("li", {}, "It contributes ", `${number(seen.weights[i][j], 3)} · (`,
        el("span", { class: "attn-value" },
          seen.values[j].map((x) => number(x, 2)).join(", ")), ")"),
    );
    bars.replaceChildren(drawOutput(tokens, seen, i));

    const best = largest(seen.weights[i]);
    line.say(
      el("span", { class: "attn-query" }, asks), " gives ",
      el("span", { class: "attn-key" }, asked), " the weight ",
      el("span", { class: "attn-number", "data-read": "weight" },
        number(seen.weights[i][j], 3)),
      ` and attends most to “${tokens[best]}”. Its output: `,
      el("span", { class: "attn-value attn-number", "data-read": "output" },
        seen.output[i].map((x) => number(x, 3)).join(", ")),
    );
    table.update(
      ["token", "vector", `score from ${asks}`, "weight", "value"],
      tokens.map((token, n) => [
        token,
        now.vectors[n].map((x) => number(x, 3)).join(", "),
        number(seen.scores[i][n], 3),
        number(seen.weights[i][n], 3),
        seen.values[n].map((x) => number(x, 3)).join(", "),
      ]),
    );
  };
  live(model, ["vectors", "use_maps", "scaled", "temperature", "query", "key"], draw);
});

function bracket(x) {
  const text = number(x, 3);
  return text.startsWith("−") ? `(${text})` : text;
}

function strong(x, digits) {
  return el("strong", {}, number(x, digits));
}

function coloured(asks, asked) {
  return [el("span", { class: "attn-query" }, `q(${asks})`), " · ",
    el("span", { class: "attn-key" }, `k(${asked})`)];
}

/** Three rows of bars: what each token adds to each number of the output. */
function drawOutput(tokens, seen, i) {
  const [width, height] = [300, 150];
  const most = Math.max(1, ...seen.values.flat().map(Math.abs));
  const middle = 150;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, role: "img" });
  const words = [];
  [0, 1, 2].forEach((n) => {
    const y = 26 + n * 48;
    let [left, right] = [middle, middle];
    tokens.forEach((token, j) => {
      const share = (seen.weights[i][j] * seen.values[j][n] * 130) / most;
      const x = share < 0 ? (left += share) : right;
      if (share > 0) right += share;
      const opacity = 0.35 + 0.65 * ((j + 1) / tokens.length);
      const bar = svg("rect", { x, y, width: Math.abs(share), height: 14, class: "attn-part" });
      bar.style.opacity = opacity;
      bar.append(svg("title", {}, `${token} adds ${number(seen.weights[i][j] * seen.values[j][n], 3)}`));
      picture.append(bar);
    });
    const end = middle + (seen.output[i][n] * 130) / most;
    picture.append(
      svg("path", { class: "attn-axis", d: `M${middle} ${y - 6}v26` }),
      svg("path", { class: "attn-sum", d: `M${end} ${y - 5}v24` }),
      svg("text", { x: 2, y: y - 11 }, `element ${n + 1}: `,
        svg("tspan", { class: "attn-total" }, number(seen.output[i][n], 3))),
    );
    words.push(`element ${n + 1}: ${number(seen.output[i][n], 3)}`);
  });
  picture.setAttribute("aria-label", `What the six tokens add up to. ${words.join("; ")}`);
  return picture;
}
