// Positions: what five schemes say about two places, against their distance.

const SCHEMES = ["sinusoidal", "learned", "T5 bias", "ALiBi", "rotary"];
const REACH = 64;
const ALIBI_HEADS = 8;
const SIDE = 32; // positions in the picture of all pairs

function rates(width, base) {
  return Array.from({ length: width / 2 }, (_, i) => base ** ((-2 * i) / width));
}

/** The query and the key of a rotary score: equal, or a random pair. */
function pair(width, content) {
  if (content === 0) return [Array(width).fill(1), Array(width).fill(1)];
  const numbers = [];
  for (let i = 0; i < 2 * width; i += 2) numbers.push(...normalPair(content, i));
  return [numbers.slice(0, width), numbers.slice(width)];
}

/** Return a function of (position of the query, distance); NaN where there is no key. */
export function scheme(name, { width, base, content, head, table, t5 }) {
  const some = (f) => (position, distance) => (position + distance < 0 ? NaN : f(position, distance));
  if (name === "sinusoidal") {
    const speeds = rates(width, base);
    return some((_, distance) =>
      speeds.reduce((sum, rate) => sum + Math.cos(rate * distance), 0) / speeds.length);
  }
  if (name === "rotary") {
    const speeds = rates(width, base);
    const [q, k] = pair(width, content);
    const lengths = Math.hypot(...q) * Math.hypot(...k);
    const along = speeds.map((_, i) => q[2 * i] * k[2 * i] + q[2 * i + 1] * k[2 * i + 1]);
    const across = speeds.map((_, i) => q[2 * i] * k[2 * i + 1] - q[2 * i + 1] * k[2 * i]);
    return some((_, distance) => speeds.reduce((sum, rate, i) =>
      sum + along[i] * Math.cos(rate * distance) - across[i] * Math.sin(rate * distance), 0)
      / lengths);
  }
  if (name === "ALiBi") {
    const slope = 2 ** ((-8 * (Math.min(head, ALIBI_HEADS - 1) + 1)) / ALIBI_HEADS);
    return some((_, distance) => -slope * Math.abs(distance));
  }
  if (name === "T5 bias") {
    return some((_, distance) => {
      const away = t5.bidirectional ? Math.abs(distance) : Math.max(-distance, 0);
      const right = t5.bidirectional && distance > 0 ? t5.rows.length / 2 : 0;
      const bucket = t5.edges.filter((edge) => edge <= away).length + right;
      return t5.rows[bucket][Math.min(head, t5.rows[0].length - 1)];
    });
  }
  return some((position, distance) => {
    const [a, b] = [table[position], table[position + distance]];
    return a && b ? dot(a, b) / (Math.hypot(...a) * Math.hypot(...b)) : NaN;
  });
}

const added = (name) => name === "ALiBi" || name === "T5 bias";

function describe(name, model) {
  const rows = model.get("_table").length;
  const trained = model.get("trained_rows");
  return {
    sinusoidal: "The cosine of two position vectors. It depends on the distance alone, "
      + "and is the same to the left and to the right.",
    learned: trained
      ? `The cosine of two rows of a trained table. Training reached the first ${trained} of `
        + `the ${rows} rows shown; the others are random.`
      : `The cosine of two rows of a table of ${rows}, at its random start: nothing has been learned.`,
    "T5 bias": model.get("_t5").trained
      ? "The number that a trained table adds to the score, one for each bucket of distances."
      : "The number added to the score, one for each bucket. Before training all are zero.",
    ALiBi: "The number added to the score: minus the distance, times a slope for each head.",
    rotary: "The cosine of a query and a key, each rotated by its position (RoPE). It depends on "
      + "the distance, and on the two vectors.",
  }[name];
}

const QUESTION = "Which schemes tell left from right, and which of them have a value for a distance "
  + "that did not occur in training?";

export default widget("positions", QUESTION, (root, model) => {
  const chosen = traitChoice(model, "scheme", "Scheme", SCHEMES.map((name) => [name, name]));
  const make = (label, name, min, max, options) =>
    traitSlider(model, name, { label, min, max, ...options });
  const signed = (x) => (x > 0 ? `+${x}` : number(x, 0));
  const position = make("position of the query", "position", 0, REACH);
  const distance = make("key − query", "distance", -REACH, REACH, { write: signed });
  const width = make("features", "width", 2, 8,
    { place: Math.log2, value: (x) => 2 ** x, write: (x) => String(2 ** x) });
  const base = make("base of the wavelengths", "base_power", 0.5, 6,
    { step: 0.5, write: (x) => whole(10 ** x) });
  const head = make("head", "head", 0, 7);
  const content = make("query and key", "content", 0, 9,
    { write: (x) => (x === 0 ? "equal" : `random pair ${x}`) });

  const chart = lineChart({
    x: { label: "key − query", min: -REACH, max: REACH, ticks: [-64, -32, 0, 32, 64] },
    y: { label: "", min: -1, max: 1 } });
  const yLabel = heading();
  const squares = Array.from({ length: SIDE }, (_, i) => Array.from({ length: SIDE }, (_, j) =>
    svg("rect", { class: "attn-square", x: 22 + j * 8, y: 16 + i * 8, width: 8, height: 8 })));
  const row = svg("rect", { class: "attn-row", x: 21.5, width: SIDE * 8 + 1, height: 9 });
  const matrix = svg("svg", { viewBox: `0 0 ${24 + SIDE * 8} ${18 + SIDE * 8}`, width: 280,
    role: "img" }, squares, row,
  svg("text", { class: "attn-key", x: 22, y: 11 }, "key 0"),
  svg("text", { class: "attn-key", x: 22 + SIDE * 8, y: 11, "text-anchor": "end" }, `${SIDE - 1}`),
  svg("text", { class: "attn-query", x: 18, y: 24, "text-anchor": "end" }, "0"),
  svg("text", { class: "attn-query", x: 18, y: 14 + SIDE * 8, "text-anchor": "end" },
    `${SIDE - 1}`));
  const matrixLabel = heading();
  const words = el("p", {});
  const line = report();
  const table = dataTable({ caption: "" });
  root.append(
    chosen, words,
    el("div", { class: "attn-controls" }, distance.root, position.root, width.root,
      base.root, head.root, content.root),
    line.root,
    el("div", { class: "attn-panels" },
      el("div", {}, yLabel, chart.root), el("div", {}, matrixLabel, matrix)),
    table.root,
  );

  let drawn = null;
  const draw = () => {
    const name = model.get("scheme");
    const settings = {
      width: model.get("width"), base: 10 ** model.get("base_power"),
      content: model.get("content"), head: model.get("head"),
      table: model.get("_table"), t5: model.get("_t5"),
    };
    const [at, away] = [model.get("position"), model.get("distance")];
    const value = scheme(name, settings);
    const waves = name === "sinusoidal" || name === "rotary";
    const heads = name === "ALiBi" ? ALIBI_HEADS : settings.t5.rows[0].length;
    head.input.max = heads - 1;
    head.set(Math.min(settings.head, heads - 1));
    width.root.hidden = base.root.hidden = !waves;
    head.root.hidden = !added(name);
    content.root.hidden = name !== "rotary";
    words.textContent = describe(name, model);

    const points = [];
    for (let r = -REACH; r <= REACH; r += 1) {
      const v = value(at, r);
      if (!Number.isNaN(v)) points.push([r, v]);
    }
    const what = added(name) ? "added to the score" : "cosine";
    yLabel.textContent = `${name}: ${what}, against the distance`;
    const lowest = Math.min(...points.map(([, v]) => v), 0);
    const highest = Math.max(...points.map(([, v]) => v), 0);
    const limits = added(name) ? [lowest, highest === lowest ? lowest + 1 : highest] : [-1, 1];
    const here = value(at, away);
    chart.update([{ points }], away,
      `${name}, query at ${at}: ${what} ${read(here)} at distance ${signed(away)}`, limits);

    const key = JSON.stringify([name, settings.width, settings.base, settings.content,
      settings.head]);
    if (drawn !== key) {
      drawn = key;
      matrixLabel.textContent = added(name)
        ? "All pairs: exp(bias), relative to the largest" : "All pairs: orange is negative";
      squares.forEach((line_, i) => line_.forEach((square, j) => {
        const v = value(i, j - i);
        const w = Number.isNaN(v) ? 0 : added(name) ? Math.exp(v - highest) : Math.abs(v);
        square.style.setProperty("--w", Math.min(1, w).toFixed(3));
        square.dataset.sign = !added(name) && v < 0 ? "minus" : "plus";
      }));
      matrix.setAttribute("aria-label",
        `${name}: the positions 0 to ${SIDE - 1} as queries (rows) and keys (columns)`);
    }
    row.setAttribute("y", 15.5 + at * 8);
    row.style.display = at < SIDE ? "" : "none";

    const other = value(at, -away);
    const both = !Number.isNaN(here) && !Number.isNaN(other) && away !== 0;
    const compared = !both ? "" : Math.abs(here - other) < 1e-6
      ? ` ${signed(-away)} gives the same.` : ` ${signed(-away)} gives ${read(other)}.`;
    const start = `Query at ${at}, key at ${number(at + away, 0)}: `;
    const nothing = at + away < 0 ? "there is no such position" : "the table has no such row";
    if (Number.isNaN(here)) line.say(start, el("span", { "data-read": "value" }, nothing), ".");
    else line.say(`${start}${what} `,
      el("span", { class: "attn-number", "data-read": "value" }, read(here)), `.${compared}`);
    const every = [-64, -32, -16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16, 32, 64];
    const cell = (f, r) => (Number.isNaN(f(at, r)) ? "–" : read(f(at, r)));
    const all = SCHEMES.map((each) => scheme(each, settings));
    table.update(["key − query", ...SCHEMES],
      every.map((r) => [signed(r), ...all.map((f) => cell(f, r))]),
      `The value of each scheme, for the query at ${at}`);
  };
  live(model,
    ["scheme", "position", "distance", "width", "base_power", "content", "head"], draw);
});

function read(x) {
  return number(x, 3);
}
