// Sequence to sequence, step by step: scores, weights, context, the next word; and what
// beam search keeps at the same step.

const END = "<eos>";

const QUESTION = "How does the translator find its next word, and would more hypotheses help?";

export default widget("seq2seq", QUESTION, (root, model) => {
  const cases = model.get("cases");
  const current = () => cases[model.get("sentence")];
  const longest = () => Math.max(current().steps.length,
    ...Object.values(current().beams).map((steps) => steps.length));
  const step = () => Math.min(model.get("step"), longest() - 1);
  const sentences = sentenceSelect(model, cases.map(({ source }) => source.slice(0, -1)),
    { step: 0 });
  const heads = traitChoice(model, "head", "Head of the cross-attention",
    cases[0].steps[0].scores.map((_, h) => [h, h]));
  const beams = traitChoice(model, "beam", "Hypotheses that beam search keeps",
    Object.keys(cases[0].beams).map((size) => [Number(size), size]));
  const go = (to) => save(model, { step: Math.max(0, Math.min(to, longest() - 1)) });
  const back = button("Back", () => go(step() - 1));
  const on = button("Next word", () => go(step() + 1), { class: "attn-main" });
  const place = slider({
    label: "Step", min: 0, max: longest() - 1, value: step(),
    write: (x) => `${x + 1} of ${longest()}`, oninput: go });
  const say = report();
  const output = el("p", { class: "attn-output" });
  const sources = el("div", {});
  const vectors = el("div", { class: "attn-panels" });
  const likely = el("table", { class: "attn-data attn-wide" });
  const kept = el("table", { class: "attn-data attn-wide" });
  const ends = el("p", {});
  const table = dataTable({ caption: "All steps of greedy search" });
  root.append(
    sentences, place.root, el("div", { class: "attn-buttons" }, back, on),
    say.root, heading("Written so far by greedy search"), output,
    heads,
    heading("1. The query, made from the decoder’s state, is compared with the key of every encoder state"),
    scrollable("Scores and weights", sources),
    heading("2. The weighted sum of the values is the context, which is joined to the decoder’s state"), vectors,
    heading("3. Both together give the probability of each next word"), likely,
    heading("Beam search at the same step: several hypotheses, ranked by the mean log-probability per word"),
    beams, scrollable("Hypotheses", kept), ends, table.root,
  );

  const strip = (values, name) => {
    const boxes = values.map((value, i) => {
      const x = Math.max(-1, Math.min(1, value / 100));
      return svg("rect", {
        x: i * 10, y: 0, width: 9.4, height: 16, rx: 1,
        class: x < 0 ? "attn-minus" : "attn-plus", "fill-opacity": Math.abs(x).toFixed(3),
      });
    });
    return svg("svg", {
      viewBox: `0 0 ${values.length * 10} 16`, preserveAspectRatio: "none", role: "img", class: "attn-strip",
      "aria-label": `${name}: ${values.slice(0, 4).map((x) => number(x / 100, 2)).join(", ")} …`,
    }, boxes);
  };
  const weightsAt = (one) => softmax(one.scores[model.get("head")].map((x) => x / 1000));
  const row = (...cells) => el("tr", {}, cells);
  const head = (...names) => el("thead", {}, headRow(names));

  const drawSource = (one) => {
    const { source, memory } = current();
    const scores = one.scores[model.get("head")];
    const shares = weightsAt(one);
    sources.replaceChildren(el("table", { class: "attn-data attn-wide" },
      head("word", "encoder state", "score", "weight", ""),
      el("tbody", {}, source.map((word, i) => row(
        el("th", { scope: "row", class: "attn-key" }, word),
        el("td", {}, strip(memory[i], `State of ${word}`)),
        el("td", {}, number(scores[i] / 1000, 2)),
        el("td", { class: "attn-number" }, number(shares[i], 2)),
        el("td", { class: "attn-left" }, bar(shares[i])),
      )))));
    return shares;
  };

  /** Follow a row of a beam back to its beginning; return its words. */
  const wordsOf = (steps, at, index) => {
    const words = [];
    for (let t = at, i = index; t >= 0; t--) {
      const [from, word] = steps[t][i];
      if (word) words.unshift(word);
      i = from;
    }
    return words;
  };

  const drawBeam = (at) => {
    const steps = current().beams[String(model.get("beam"))];
    const t = Math.min(at, steps.length - 1);
    const greedy = current().steps.slice(0, t + 1).map(({ word }) => word).join(" ");
    kept.replaceChildren(head("hypothesis", "sum", "mean"), el("tbody", {},
      steps[t].map(([, , total], i) => {
        const words = wordsOf(steps, t, i);
        const text = words.join(" ");
        return row(
          el("th", { scope: "row", class: "attn-begin" }, text,
            text === greedy ? el("span", { class: "attn-muted" }, " (greedy)") : null),
          el("td", {}, number(total / 1000, 2)),
          el("td", { class: "attn-number" }, number(total / 1000 / words.length, 2)),
        );
      })));
    const last = steps.length - 1;
    const best = wordsOf(steps, last, 0).filter((word) => word !== END).join(" ");
    const alone = current().steps.map(({ word }) => word).filter((word) => word !== END).join(" ");
    const reference = current().reference.join(" ");
    const judge = (text) => (text === reference ? "right" : "wrong");
    ends.textContent = best === alone
      ? `In the end both write the same, and it is ${judge(best)}: ${best}`
      : `In the end beam search writes: ${best} (${judge(best)}). Greedy search: ${alone} (${judge(alone)}).`;
    if (judge(best) === "wrong" || judge(alone) === "wrong") {
      ends.textContent += ` The right translation is: ${reference}`;
    }
  };

  const draw = () => {
    const { steps, source } = current();
    const at = step();
    const t = Math.min(at, steps.length - 1);
    const one = steps[t];
    place.input.max = longest() - 1;
    place.set(at);
    back.setAttribute("aria-disabled", String(at === 0));
    on.setAttribute("aria-disabled", String(at === longest() - 1));
    output.replaceChildren(...steps.slice(0, t).map(({ word }) => `${word} `),
      el("strong", { class: "attn-value" }, one.word));
    const shares = drawSource(one);
    const top = largest(shares);
    const piece = (name, values) => el("div", {}, el("p", { class: "attn-small" }, name), strip(values, name));
    vectors.replaceChildren(piece("context (all heads)", one.context), piece("state of the decoder", one.state),
      remark(`The first ${one.state.length} of the ${model.get("width")} elements of each vector are drawn: blue is above zero, orange below.`));
    likely.replaceChildren(head("next word", "probability", ""), el("tbody", {},
      one.likely.map(([word, share]) => row(el("th", { scope: "row" }, word),
        el("td", { class: "attn-number" }, number(share, 3)),
        el("td", { class: "attn-left" }, bar(share))))));
    drawBeam(at);
    const [word, share] = one.likely[0];
    const over = at > t ? "Greedy search has ended. Its last step: " : "";
    say.say(`${over}Step ${t + 1}: head ${model.get("head")} attends most to “${source[top]}” `
      + `(${number(shares[top], 2)}); the likeliest next word is “${word}” (${number(share, 3)}).`);
    table.update(["step", "word", "probability", "attends most to", "weight"], steps.map((s, i) => {
      const all = weightsAt(s);
      const most = largest(all);
      return [String(i + 1), s.word, number(s.likely[0][1], 3), source[most], number(all[most], 2)];
    }));
  };

  live(model, ["sentence", "step", "head", "beam"], draw);
});
