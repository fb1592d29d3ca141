// Two heads at work: what the induction head reads, and what the previous-token head had
// written there. The model runs here, in the page.

const MOST = 12; // signs of what is repeated
const STEP = 24; // pixels from sign to sign
const LEFT = 48; // pixels beside them
const RISE = 74; // pixels from layer to layer
const THICK = 12; // pixels of a line for the weight 1
const HEIGHT = 2 * RISE + 28;
const SHOWN = 3; // predictions

const QUESTION = "How do two heads find the letter that comes next?";

export default widget("induction", QUESTION, (root, model) => {
  const network = smallModel(model);
  const scores = model.get("scores");
  const signs = model.get("signs");
  const last = scores.length - 1;
  const [previous, induction] = [largest(scores[0].previous), largest(scores[last].induction)];

  const field = signField(model, "Letters, which are then repeated");
  const other = anotherExample(model, "text", "Other letters");
  let sequence = "";
  const at = (i) => `${sequence[i]} (position ${i + 1})`;
  const position = traitSlider(model, "position",
    { label: "The model has read up to", min: 0, max: 1, write: at });
  const drawing = svg("svg", { role: "img", height: HEIGHT, style: "max-width:none" });
  const say = report();
  const steps = el("ol", { class: "attn-steps" });
  const predictions = el("tbody", {});
  const table = dataTable({
    summary: "The weights as a table", caption: "Weights of the two heads" });
  const results = el("div", {}, position.root, scrollable("The two heads", drawing),
    say.root, steps, heading("What the model predicts"),
    el("table", { class: "attn-data attn-cost" }, predictions), table.root);
  root.append(field.root, el("div", { class: "attn-buttons" }, other), results);

  const x = (i) => LEFT + (i + 0.5) * STEP;
  const y = (row) => 18 + row * RISE;
  /** Lines from a sign of one row to those of the next, as wide as `widths`. */
  const lines = (from, row, widths) => widths.map((width, to) => svg("path", {
    class: "attn-link", "stroke-width": THICK * width,
    d: `M${x(from)} ${y(row) + 8}L${x(to)} ${y(row + 1) - 16}` }));

  const draw = () => {
    const { text, ids: part, refused } = field.read(2, MOST);
    results.hidden = Boolean(refused);
    if (refused) return say.say(refused);
    sequence = text + text;
    const ids = [...part, ...part];
    const n = ids.length;
    const query = Math.min(model.get("position"), n - 1);
    const { logits, weights } = network.run(ids);
    const low = rowsOf(weights[0], previous, n, n);
    const high = rowsOf(weights[last], induction, n, n)[query];
    const key = largest(high);
    const before = largest(low[key]);
    const size = logits.length / n;
    const shares = softmax(Array.from(logits.subarray(query * size, (query + 1) * size)));
    const order = ranked(shares, SHOWN);
    const sign = (id) => (id ? signs[id - 1] : "none");
    const next = sequence[(query + 1) % n];

    position.input.max = n - 1;
    position.set(query);
    drawing.setAttribute("width", LEFT + n * STEP);
    const marked = [[query, "attn-query"], [key, "attn-value"], [before, "attn-key"]];
    const letterAt = (row, i) => svg("text", {
      x: x(i), y: y(row), "text-anchor": "middle",
      class: marked[row][0] === i ? `attn-letter attn-total ${marked[row][1]}` : "attn-letter",
      style: i > query ? "fill:var(--attn-muted)" : null }, sequence[i]);
    drawing.replaceChildren(
      ...lines(query, 0, high),
      ...high.flatMap((weight, j) => lines(j, 1, low[j].map((w) => w * weight))),
      ...[last, 0].map((layer, row) =>
        svg("text", { x: 0, y: y(row) + RISE / 2 }, `layer ${layer}`)),
      ...marked.flatMap((_, row) => ids.map((__, i) => letterAt(row, i))),
      ...ids.map((_, i) => svg("rect", { x: x(i) - STEP / 2, width: STEP, height: HEIGHT,
        class: "attn-pick", onclick: () => save(model, { position: i }) })),
    );
    const view = drawing.parentElement;
    view.scrollLeft = x(query) - view.clientWidth / 2;
    const words = `After ${at(query)} the model predicts ${sign(order[0])} with probability `
      + `${number(shares[order[0]], 2)}; ${next} comes next.`;
    drawing.setAttribute("aria-label", words);
    say.say(words);
    const same = sequence[before] === sequence[query] ? ", the letter of the query" : "";
    steps.replaceChildren(
      el("li", {}, `Layer ${last}, head ${induction}: the `,
        el("span", { class: "attn-query" }, "query"),
        ` of ${at(query)} puts its largest weight, ${number(high[key], 2)}, on ${at(key)}.`),
      el("li", {}, `Layer 0, head ${previous}: there, the largest weight, `
        + `${number(low[key][before], 2)}, is on ${at(before)}${same}. The `,
      el("span", { class: "attn-key" }, "key"), ` of layer ${last} is made from the result.`),
      el("li", {}, "The ", el("span", { class: "attn-value" }, "value"),
        ` is that of ${at(key)}; the model predicts ${sign(order[0])}.`));
    predictions.replaceChildren(...order.map((id) =>
      tableRow(sign(id), number(shares[id], 2), bar(shares[id]))));
    table.update(["position", "induction head, from the query",
      `previous-token head, from ${at(key)}`],
    [...sequence].map((_, i) => [at(i), number(high[i], 2), number(low[key][i], 2)]));
    return null;
  };
  live(model, ["text", "position"], draw);
});
