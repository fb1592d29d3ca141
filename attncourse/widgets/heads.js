// Heads: every head of a small language model, its scores, and a switch for each. The
// model runs here, in the page.

const MOST = 40; // signs of a sequence
const NAMES = ["previous", "duplicate", "induction", "first", "own"];

const QUESTION = "Which heads does the model need to continue the sequence?";

export default widget("heads", QUESTION, (root, model) => {
  const signs = model.get("signs");
  const network = smallModel(model);
  const scores = model.get("scores");
  const baseline = model.get("baseline");
  let row = 0; // the chosen row of the large picture
  let now = null;
  let whole = null;

  const field = signField(model, "Sequence");
  const other = anotherExample(model, "text", "Another sequence");
  const reset = allHeadsOn(model);
  const say = report();
  const { root: pictures, tiles } = headTiles(
    model, layerGroups("layers", scores.length, network.heads));
  for (const [name, tile] of tiles) {
    const [, layer, head] = name.split(".");
    const best = NAMES.slice(0, 3)
      .map((kind) => [scores[layer][kind][head], kind])
      .sort((a, b) => b[0] - a[0])[0];
    tile.note.textContent = `${best[1]} ${number(best[0], 2)}`;
  }
  const guesses = el("div", { class: "attn-guesses", "aria-hidden": "true" });
  const title = heading();
  const large = el("div", {});
  const table = dataTable({
    summary: "The scores of all heads",
    caption: "Scores on test sequences, with all heads on",
  });
  const predictions = dataTable({
    summary: "The predictions as a table", caption: "The next symbol, and what the model predicts",
  });
  const results = el("div", {},
    heading("The probability of the next symbol; framed where it "
      + "followed the same symbol before, so that it is predictable"),
    guesses, pictures,
    remark("Below each picture: the highest of its scores "
      + "previous, duplicate and induction. Uniform attention has "
      + NAMES.slice(0, 3).map((kind) => `${kind} ${number(baseline[kind], 2)}`).join(", ") + "."),
    title, large, predictions.root, table.root);
  root.append(field.root,
    el("div", { class: "attn-buttons" }, other, reset), say.root, results);
  table.update(["head", ...NAMES, "entropy"], [
    ...scores.flatMap((layer, i) => layer.own.map((_, h) => [
      `layer ${i}, head ${h}`, ...[...NAMES, "entropy"].map((kind) => number(layer[kind][h], 2)),
    ])),
    ["uniform attention", ...[...NAMES, "entropy"].map((kind) => number(baseline[kind], 2))],
  ]);

  /** Run the model; for each sign but the last, find what it expects next. */
  const run = (ids, off) => {
    const { logits, weights } = network.run(ids, { off: new Set(off) });
    const size = logits.length / ids.length;
    const steps = ids.slice(0, -1).map((id, i) => {
      const shares = softmax(Array.from(logits.subarray(i * size, (i + 1) * size)));
      const right = ids[i + 1];
      const known = ids.slice(0, i).some((one, j) => one === id && ids[j + 1] === right);
      const top = largest(shares);
      return { share: shares[right], top, right, known };
    });
    return { steps, weights };
  };
  const sign = (id) => (id ? signs[id - 1] : "none");
  const lossOf = ({ steps }) => {
    const counted = steps.filter(({ known }) => known);
    const sum = counted.reduce((total, { share }) => total - Math.log(share), 0);
    return { count: counted.length, loss: sum / counted.length,
      right: counted.filter(({ top, right }) => top === right).length };
  };

  const describe = () => {
    const { count, loss, right } = lossOf(now);
    const off = model.get("off");
    const names = off.map((name) => tiles.get(name).label).join("; ");
    const setting = off.length ? `Without ${names}` : "With all heads";
    root.dataset.loss = count ? loss.toFixed(4) : "";
    if (!count) {
      return say.say("No symbol follows the same symbol twice here, so none is predictable: repeat "
        + "a part of the sequence.");
    }
    const before = off.length ? ` With all heads: ${lossOf(whole).right} correct, ${number(lossOf(whole).loss, 2)} nats.` : "";
    say.say(`${setting}: the model predicts ${right} of ${count} predictable symbols correctly; `
      + `their mean loss is ${number(loss, 2)} nats (chance level: ${number(Math.log(signs.length), 2)}).${before}`);
  };

  const drawGuesses = (text) => {
    guesses.replaceChildren(...[...text].map((letter, i) => {
      const step = now.steps[i - 1];
      return guess(step?.share ?? 0, step?.known, el("b", {}, letter),
        step ? number(step.share, 2) : "–");
    }));
    predictions.update(["position", "symbol", "probability", "prediction", "predictable"],
      now.steps.map(({ share, top, right, known }, i) =>
        [String(i + 2), sign(right), number(share, 2), sign(top), known ? "yes" : "no"]));
  };

  const weightsOf = (name, n) => {
    const [, layer, head] = name.split(".").map(Number);
    return rowsOf(now.weights[layer], head, n, n);
  };

  const drawLarge = (text) => {
    const name = model.get("head");
    const [, layer, head] = name.split(".");
    const rows = weightsOf(name, text.length);
    row = Math.min(row, text.length - 1);
    const off = model.get("off").includes(name);
    title.textContent = `Layer ${layer}, head ${head}`
      + (off ? " (ablated: its output is zero)" : "")
      + ". Weights in per cent; rows are queries, columns are keys.";
    const grid = percentGrid({
      label: `Weights of layer ${layer}, head ${head}`, rows, row,
      rowLabels: [...text], columnLabels: [...text], onselect: (r) => { row = r; },
      name: (q, k) => `${text[q]}, position ${q + 1}, on ${text[k]}, position ${k + 1}`,
    });
    grid.table.classList.add("attn-letters");
    large.replaceChildren(grid.root);
  };

  const update = () => {
    const { text, ids, refused } = field.read(2, MOST);
    if (refused) {
      results.hidden = true;
      root.dataset.loss = "";
      return say.say(refused);
    }
    whole = run(ids, []);
    now = model.get("off").length ? run(ids, model.get("off")) : whole;
    results.hidden = false;
    drawGuesses(text);
    drawTiles(model, tiles, (name) => weightsOf(name, text.length));
    drawLarge(text);
    describe();
  };

  row = Math.floor(model.get("text").length / 2);
  live(model, ["text", "off", "head"], update);
});
