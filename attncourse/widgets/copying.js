// Copying with a recurrent encoder and decoder: what comes through one vector, and what
// comes through attention.

const LONGEST = 60; // symbols
const KINDS = [["with", "with attention", ""], ["without", "without attention", "attn-second"]];

/** The `RecurrentSeq2Seq`, with additive attention or without any. */
class Copier {
  constructor(tensors) {
    this.tensors = tensors;
  }

  /** Write as many ids as the source has, always the likeliest. */
  copy(source) {
    const { tensors } = this;
    const { shape: [rows, width] } = tensors["target_embedding.weight"];
    let state = new Float32Array(width);
    const states = source.map((id) => {
      state = gruStep(embed([id], tensors, "source_embedding"), state, tensors, "encoder");
      return state;
    });
    const last = state;
    const keys = "attention.score.weight" in tensors
      && states.map((x) => linear(x, tensors, "attention.encoder_proj"));
    const context = () => { // the mean of the states, weighted by Bahdanau's score
      const query = linear(state, tensors, "attention.decoder_proj");
      const weights = softmax(keys.map((key) =>
        linear(add(key, query).map(Math.tanh), tensors, "attention.score")[0]));
      return last.map((_, i) => weights.reduce((sum, w, j) => sum + w * states[j][i], 0));
    };
    let id = rows - 1; // the start symbol
    return source.map(() => {
      state = gruStep(embed([id], tensors, "target_embedding"), state, tensors, "decoder");
      const read = joined(keys ? context() : last, state);
      const logits = linear(linear(read, tensors, "combine").map(Math.tanh), tensors, "output");
      id = largest(logits);
      return { id, logits };
    });
  }
}

const QUESTION = "How much of a sequence comes through one vector?";

export default widget("copying", QUESTION, (root, model) => {
  const signs = model.get("signs");
  const curves = model.get("curves"); // of each kind: pairs of a length and the share right
  let copiers = null;
  let tried = 0; // the longest sequence: the curves go no further
  let text = "";

  const drawn = (count) => Array.from({ length: count }, () =>
    signs[Math.floor(signs.length * Math.random())]).join("");
  const resize = (count) => save(model, { text: (text + drawn(count)).slice(0, count) });
  const field = signField(model, `Sequence: 2 to ${LONGEST} letters from A to J`);
  const length = slider({
    label: "Length", min: 2, max: LONGEST, value: 2, oninput: resize });
  const again = button("Draw other letters", () => save(model, { text: drawn(text.length) }));
  const chart = lineChart({
    x: { label: "length", min: 0, max: LONGEST, ticks: [0, 10, 20, 30, 40, 50, 60] },
    y: { label: "share of symbols right", min: 0, max: 1 }, width: innerWidth > 720 ? 680 : 340 });
  const lines = el("div", {});
  const say = report();
  const table = dataTable({ caption: "Share of symbols right, by length" });
  const results = el("div", { hidden: true }, length.root,
    el("div", { class: "attn-buttons" }, again), lines,
    legend(KINDS.map(([, label, style]) => [style, label])), chart.root, table.root);
  root.append(field.root, say.root, results);

  const line = (name, ids, source) => [heading(name),
    el("div", { class: "attn-words" }, ids.map((id, i) => (id === source[i]
      ? el("span", { class: "attn-word" }, signs[id - 1])
      : el("span", { class: "attn-word attn-changed" }, signs[id - 1] ?? "–",
        el("span", { class: "attn-hidden" }, " is wrong")))))];

  const update = () => {
    const { text: typed, ids, refused } = field.read(2, LONGEST);
    results.hidden = !copiers;
    results.inert = Boolean(refused);
    if (refused) return say.say(refused);
    if (!copiers) return null;
    text = typed;
    const count = ids.length;
    const copies = copiers.map((copier) => copier.copy(ids).map(({ id }) => id));
    const right = copies.map((copy) => copy.filter((id, i) => id === ids[i]).length);
    length.set(count);
    lines.replaceChildren(...line("Source", ids, ids), ...copies.flatMap((copy, k) =>
      line(`Copied ${KINDS[k][1]}: ${right[k]} of ${count} right`, copy, ids)));
    const means = KINDS.map(([kind]) => number(count * curves[kind][count - 2][1], 1));
    const words = `With attention ${right[0]} of ${count} symbols are right, and without `
      + `attention ${right[1]}. The averages over many sequences of this length are ${means.join(" and ")}.`;
    tried = Math.max(tried, count);
    const upTo = (kind) => curves[kind].slice(0, tried - 1);
    chart.update(KINDS.map(([kind, , style]) => ({ points: upTo(kind), style })), count, words);
    table.update(["length", ...KINDS.map(([, label]) => label)], upTo("with").map(([n], i) =>
      [n, ...KINDS.map(([kind]) => number(curves[kind][i][1], 3))]));
    root.dataset.state = "done";
    return say.say(words);
  };

  const load = () => Promise.all(KINDS.map(([kind]) =>
    modelOf(model, `copier_${kind}`, (buffer) => new Copier(readTensors(buffer)))));
  whenSeen(root, model, say, load, (loaded) => { copiers = loaded; update(); });
  live(model, ["text"], update);
});
