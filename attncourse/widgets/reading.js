// Reading: a trained reader points at the answer in a passage, or says that there is none.

const LONGEST = 10; // words of an answer
const MOST = 120; // words of a text
const SHOWN = ["passage", "question", "word", "side", "head"];
const FIRST = 4; // the id of the first word; the one before stands for unknown words

/** The `QATransformer`. */
class Reader {
  constructor(tensors, heads) {
    Object.assign(this, { tensors, heads, width: tensors["embedding.weight"].shape[1] });
  }

  /** Add to each word what was read up to it, from the left and from the right. */
  readBothWays(x, name) {
    const half = this.width / 2;
    const out = x.slice();
    ["forwards", "backwards"].forEach((side, turned) => {
      let state = { hidden: new Float32Array(half), cell: new Float32Array(half) };
      for (let t = 0; t < x.length; t += this.width) {
        const from = turned ? x.length - this.width - t : t;
        const word = x.subarray(from, from + this.width);
        state = lstmStep(word, state, this.tensors, `${name}.${side}`);
        state.hidden.forEach((value, i) => (out[from + turned * half + i] += value));
      }
    });
    return out;
  }

  /** Return the scores of first and last words, "no answer" in front, and the weights. */
  read(question, passage) {
    const { tensors, width, heads } = this;
    const look = (name, queries, keys, values) => attend(queries, {
      keys: linear(keys, tensors, `${name}.key_proj`),
      values: linear(values, tensors, `${name}.value_proj`),
    }, tensors, name, name, {}, { width, heads });
    const [asked, said] = [[question, "question_encoder"], [passage, "context_encoder"]].map(
      ([ids, name]) => this.readBothWays(embed(ids, tensors, "embedding"), name));
    const answered = look("from_question", said, asked, asked);
    const found = look("from_context", asked, said, said);
    const back = look("back_to_context", said, asked, found.output);
    const times = (x) => said.map((value, i) => value * x[i]);
    const parts = [said, answered.output, times(answered.output), times(back.output)];
    const beside = new Float32Array(4 * said.length);
    parts.forEach((part, p) => part.forEach((value, i) => {
      beside[(4 * Math.floor(i / width) + p) * width + (i % width)] = value;
    }));
    let x = linear(beside, tensors, "join").map((value) => Math.max(0, value));
    x = stack(this.readBothWays(x, "modelling"), tensors, "layers", {}, { width, heads }).x;
    x = norm(x, tensors, "norm");
    const whole = new Float32Array(2 * width).fill(-Infinity, width);
    asked.forEach((value, i) => (whole[i % width] += value / question.length));
    x.forEach((value, i) => {
      whole[width + (i % width)] = Math.max(whole[width + (i % width)], value);
    });
    const none = linear(whole, tensors, "nothing");
    const [start, end] = ["start", "end"].map((name, i) => [none[i], ...linear(x, tensors, name)]);
    return { start, end, weights: { passage: answered.weights, question: found.weights } };
  }
}

/** The best pair of a first and a last word, or null where "no answer" scores as much. */
function bestSpan(start, end) {
  let [best, span] = [start[0] + end[0], null];
  for (let i = 1; i < start.length; i++) {
    for (let j = i; j < Math.min(i + LONGEST, end.length); j++) {
      if (start[i] + end[j] > best) [best, span] = [start[i] + end[j], [i - 1, j - 1]];
    }
  }
  return span;
}

/** Cut a text into words; a comma, a full stop or a question mark is one by itself. */
function wordsOf(text, known) {
  return text.split(/\s+/).filter(Boolean).flatMap((piece) =>
    (known.includes(piece) ? piece : piece.split(/(?=[.,?]$)/)));
}

const QUESTION = "Where does the model find the answer?";

export default widget("reading", QUESTION, (root, model) => {
  const known = () => model.get("words")[model.get("reader")];
  const examples = model.get("examples");
  let reader = null;
  let said = {}; // the last text, its answer, and whether the text before had the same
  let asked = ""; // the question whose words can be chosen
  const joined = (text) => text.replace(/ (?=[.,?])/g, "");
  const choose = ([passage, question]) =>
    save(model, { passage: joined(passage), question: joined(question) });
  choose([model.get("passage"), model.get("question")]);
  const now = () => [...SHOWN, "reader"].map((trait) => model.get(trait)).join("\n");
  const [begun, first] = [now(), model.get("first")];

  const [passages, questions] = [["passage", "Passage", 4], ["question", "Question", 1]]
    .map(([trait, label, rows]) => traitField(model, trait, label, { rows }).root);
  const { root: chooser, input } = select("Another example",
    examples.map(([, text]) => joined(text)), (i) => choose(examples[i]));
  input.selectedIndex = examples.findIndex(([, text]) => joined(text) === model.get("question"));
  const swap = button("Swap “he” and “she”", () => save(model, {
    passage: model.get("passage").replace(/\b(s?)he\b/g, (_, s) => (s ? "he" : "she")),
  }));
  const readers = traitChoice(model, "reader", "Trained with",
    [["reader_0", "seed 0"], ["reader_1", "seed 1"]]);
  const sides = traitChoice(model, "side", "Attention",
    [["question", "from that word to the passage"], ["passage", "from the passage to that word"]]);
  const heads = traitChoice(model, "head", "Head",
    ["0", "1", "2", "3"].map((head) => [head, head]));
  const percent = (share) => number(100 * share, 0);
  const say = report();
  const words = el("div", {});
  const spans = el("div", { class: "attn-words", "aria-hidden": "true" });
  const table = dataTable({ caption: "The words of the passage, in per cent" });
  const above = heading();
  const results = el("div", { hidden: true }, above, spans, words,
    el("div", { class: "attn-controls" }, sides, heads), table.root);
  root.append(questions, passages, el("div", { class: "attn-buttons" }, swap), say.root, results, chooser, readers);

  /** Weights between the chosen word of the question and each word of the passage. */
  const weightsOf = (weights, question, passage) => {
    const [at, head] = [Number(model.get("word")), Number(model.get("head"))];
    if (model.get("side") === "question") return rowsOf(weights.question, head, question, passage)[at];
    return rowsOf(weights.passage, head, passage, question).map((row) => row[at]);
  };

  const draw = (passage, question, { span, shares, looks }) => {
    spans.replaceChildren(...passage.map((word, i) => {
      const inside = span && i >= span[0] && i <= span[1];
      return guess(looks[i], inside, word, shares.some((share) => share[i + 1] >= 0.005)
        ? shares.map((share) => percent(share[i + 1])).join(" · ") : "");
    }));
    const [at, top] = [question[Number(model.get("word"))], largest(looks)];
    const forth = model.get("side") === "question";
    const [from, to] = forth ? [at, passage[top]] : [passage[top], at];
    above.textContent = `Colour: attention ${forth ? "of" : "to"} “${at}” in head `
      + `${model.get("head")}. Frame: the answer. Below a word: the chance (%) that the answer starts · ends at it`;
    const [begins, ends] = shares.map((share, i) => percent(share[span ? span[i] + 1 : 0]));
    const answer = span ? `“${passage.slice(span[0], span[1] + 1).join(" ")}”`
      : "the passage does not say";
    const text = [model.get("passage"), model.get("question")].join();
    const given = examples.some((example) => example.map(joined).join() === text);
    const same = !given && answer === said.answer ? " The same answer as before." : "";
    if (text !== said.text || answer !== said.answer) said = { text, answer, same };
    const strange = [...passage, ...question].filter((word) => !known().includes(word));
    say.say(`The model’s answer: ${answer} (first word ${begins}%, last word ${ends}%).${said.same} `
      + `In head ${model.get("head")}, “${from}” gives “${to}” ${percent(looks[top])}% of its attention.`
      + (strange.length ? ` These words are not in its vocabulary: ${strange.join(", ")}.` : ""));
    table.update(["word", "begins", "ends", "weight"], ["no answer", ...passage].map((word, i) =>
      [word, ...shares.map((share) => percent(share[i])), i ? percent(looks[i - 1]) : ""]));
    root.dataset.state = reader ? "done" : "first";
  };

  const update = () => {
    const [passage, question] = ["passage", "question"].map((trait) =>
      wordsOf(model.get(trait), known()));
    swap.disabled = !passage.some((word) => /^s?he$/.test(word));
    const refused = [passage, question].some(({ length }) => length < 1 || length > MOST);
    const found = reader || (first.looks && now() === begun);
    results.hidden = refused || !found;
    if (refused) return say.say(`Write a passage and a question, each of 1 to ${MOST} words.`);
    if (!found) return null;
    if (Number(model.get("word")) >= question.length) return save(model, { word: "0" });
    if (asked !== question.join(" ")) {
      asked = question.join(" ");
      words.replaceChildren(traitChoice(model, "word", "Word of the question",
        question.map((word, i) => [`${i}`, word])));
    }
    const ids = (text) => text.map((word) => FIRST + known().indexOf(word));
    if (!reader) return draw(passage, question, first);
    const { start, end, weights } = reader.read(ids(question), ids(passage));
    const [shares, span] = [[softmax(start), softmax(end)], bestSpan(start, end)];
    const looks = weightsOf(weights, question.length, passage.length);
    return draw(passage, question, { span, shares, looks });
  };

  const load = async () => {
    const name = model.get("reader");
    const loaded = await modelOf(model, name, (buffer) => new Reader(readTensors(buffer), 4));
    if (name !== model.get("reader")) return;
    reader = loaded;
    update();
  };
  watch(model, ["reader"], () => load().catch((error) => say.say(error.message)));
  live(model, SHOWN, update);
  whenSeen(root, model, say, load);
});
