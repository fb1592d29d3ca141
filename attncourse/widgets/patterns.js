// Patterns of attention: who sees whom, how often, and the controls that set it.

const OFF = { causal: false, window: null, stride: null, global_tokens: 0 };

/** Return whether a query sees a key at a distance, but for direction and global tokens. */
function seesAt({ window, stride, global_tokens, dilation = 1 }) {
  const everything = window === null && stride === null && global_tokens === 0;
  return (distance) => everything
    || (window !== null && distance % dilation === 0 && distance <= window * dilation)
    || (stride !== null && distance % stride === 0);
}

/** The mask as rows of booleans; window and stride may be null, which leaves them out. */
export function pattern(n, parts) {
  const { causal, padding = 0, side = "right", global_tokens } = parts;
  const sees = seesAt(parts);
  const real = (j) => (side === "right" ? j < n - padding : j >= padding);
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) =>
      (sees(Math.abs(i - j)) || i < global_tokens || j < global_tokens)
      && (!causal || j <= i)
      && real(j)));
}

/** Count the pairs of a pattern without padding, without making the mask. */
export function pairCount(n, parts) {
  const sees = seesAt(parts);
  const top = Math.min(parts.global_tokens, n);
  const rest = n - top; // tokens that are not global
  let total = top * rest + (parts.causal ? (top * (top + 1)) / 2 : top * n);
  for (let distance = 0; distance < rest; distance += 1) {
    const both = parts.causal || distance === 0 ? 1 : 2;
    if (sees(distance)) total += both * (rest - distance);
  }
  return total;
}

/** Through how many layers each key reaches each query; 0 where it never does. */
export function layersNeeded(mask) {
  const needed = mask.map((row) => row.map(Number));
  for (let layer = 2; layer <= mask.length; layer += 1) {
    const before = needed.map((row) => row.map(Boolean));
    needed.forEach((row, i) => row.forEach((known, j) => {
      if (!known && mask.some((seen, k) => before[i][k] && seen[j])) row[j] = layer;
    }));
  }
  return needed;
}

/** Controls of a pattern of `unit`s: { examples, roots }. */
function patternControls(model, { examples, count, unit }) {
  const optional = (trait, label, min, max = count - 1) => traitSlider(model, trait, {
    label, min: min - 1, max, place: (x) => x || x === min ? x : min - 1,
    value: (x) => (x < min ? OFF[trait] : x), write: (x) => (x < min ? "off" : String(x)) }).root;
  const buttons = examples.map(([name, values]) =>
    button(name, () => save(model, { ...OFF, ...values })));
  live(model, [...Object.keys(OFF), "dilation"], () => examples.forEach(([, values], i) =>
    buttons[i].setAttribute("aria-pressed", String(Object.entries({ ...OFF, ...values })
      .every(([trait, value]) => model.get(trait) === value)))));
  return {
    examples: [heading("Examples to start from"), el("div", { class: "attn-options" }, buttons)],
    roots: [
      optional("window", "local: largest distance", 0),
      optional("global_tokens", `global: first ${unit}s`, 1, 4),
      optional("stride", `strided: step in ${unit}s`, 2),
      traitChoice(model, "causal", "Direction", [[true, "past only"], [false, "both ways"]]),
    ],
  };
}

function list(places) {
  return places.length ? places.join(", ") : "nothing";
}

/** Write a count with a unit, each unit 1000 times the one before. */
function scaled(count, units) {
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  return `${Number((count / 1000 ** unit).toPrecision(3))} ${units[unit]}`;
}

function memory(bytes) {
  return scaled(bytes, ["bytes", "kB", "MB", "GB", "TB"]);
}
