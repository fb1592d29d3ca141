// The translator: a sentence goes in, its translation comes out, and every head can be
// looked at and switched off. The model runs here, in the page.

const LONGEST = 40; // source tokens
const CODES = { french: "fr", german: "de", japanese: "ja-Latn" };
const PLACES = [
  ["encoder.0", "Encoder, layer 0: self-attention", "encoder layer 0"],
  ["encoder.1", "Encoder, layer 1: self-attention", "encoder layer 1"],
  ["decoder.0", "Decoder: self-attention (the words so far)", "decoder self-attention"],
  ["cross.0", "Decoder: cross-attention (the source)", "cross-attention"],
];

/** Cut a word that is too long to be said whole. */
function shortened(word) {
  return word.length > 24 ? `${word.slice(0, 23)}…` : word;
}

const QUESTION = "Which of its sixteen heads does the translator need for your sentence?";

export default widget("translator", QUESTION, (root, model) => {
  const sources = model.get("source_words");
  let translator = null; // the model, when it has been loaded
  let whole = null; // what it writes with all heads on, at temperature 1
  let now = null; // what it writes as it is set
  let row = 0; // the chosen row of the large picture

  const say = report();
  const field = sentenceField({
    words: sources, follow: model.get("follow"),
    onenter: (text) => {
      save(model, { sentence: text });
      if (!translator) start();
    },
  });
  const languages = traitChoice(model, "language", "Into", model.get("languages"));
  const begin = button("Start the translator (0.7 MB)", () => {
    if (begin.getAttribute("aria-disabled") === "true") return;
    save(model, { sentence: field.input.value });
    if (translator) update();
    else start();
  }, { class: "attn-main" });
  const other = anotherExample(model, "sentence", "Another sentence");
  const temperature = traitSlider(model, "temperature", {
    label: "Temperature: the scores of all heads are divided by it",
    min: -1, max: 1, step: 0.05, write: (x) => number(10 ** x, 2),
    place: Math.log10, value: (x) => Number((10 ** x).toFixed(4)),
  });
  const reset = allHeadsOn(model, "All heads on, temperature 1", { temperature: 1 });
  const output = el("div", { class: "attn-words", role: "toolbar", "aria-label": "Translation" });
  output.addEventListener("keydown", (event) => {
    const all = [...output.children];
    const to = arrowKeys(event, [all], 0, all.indexOf(event.target));
    if (to) all[to[1]].click();
  });
  const heads = PLACES.map(([name, legend, label]) => ({
    legend,
    heads: [0, 1, 2, 3].map((h) => ({
      name: `${name}.${h}`, label: `${label}, head ${h}`, short: `${h}`,
    })),
  }));
  const { root: groups, tiles } = headTiles(model, heads);
  const large = el("div", {});
  const title = heading();
  const next = dataTable({
    summary: "How probable was each word?", caption: "The three likeliest words at each step",
  });
  const results = el("div", { hidden: true },
    heading("Translation (choose a word to see its row)"), output,
    temperature.root, el("div", { class: "attn-buttons" }, reset), groups, title, large,
    next.root);
  root.append(languages, field.root,
    el("div", { class: "attn-buttons" }, begin, other), say.root, results);

  /** Return the weights of a head as rows, with the names of rows and columns. */
  const weightsOf = (name, run) => {
    const [part, ...place] = name.split(".");
    const [layer, head] = place.map(Number);
    const read = [...run.source, "<eos>"];
    const wrote = run.steps.map((step) => run.words[step.token]);
    if (part === "encoder") {
      const rows = rowsOf(run.encoder[layer], head, read.length, read.length);
      return { rows, queries: read, keys: read };
    }
    const keys = part === "cross" ? read : ["<bos>", ...wrote.slice(0, -1)];
    const rows = run.steps.map(({ weights }) => {
      const flat = weights[part][layer];
      const from = (head * flat.length) / translator.heads;
      const seen = flat.length / translator.heads; // itself and what was written before
      return keys.map((_, k) => (k < seen ? flat[from + k] : 0));
    });
    return { rows, queries: wrote, keys };
  };
  const isDecoder = (name) => !name.startsWith("encoder");

  const run = (ids, source, words, how) =>
    ({ ...translator.translate(ids, how), source, words });

  const complain = (...parts) => {
    results.hidden = true;
    root.dataset.state = "refused";
    say.say(...parts);
  };

  /** Check the sentence; return its tokens, or null after saying what is wrong. */
  const checked = () => {
    const tokens = tokensOf(model.get("sentence"));
    const strange = [...new Set(tokens)].filter((token) => !sources.includes(token));
    const end = tokens.indexOf(".") + 1;
    if (!tokens.some((token) => /\p{L}/u.test(token))) {
      complain("Type a sentence, such as: " + model.get("examples")[0]);
    } else if (strange.length) {
      const [unknown] = strange;
      const before = tokens[tokens.indexOf(unknown) - 1] ?? "";
      const near = nearWords(unknown, sources);
      const offered = near.length ? near : followersOf(model.get("follow"), before).slice(0, 3);
      const buttons = offered.flatMap((word) => [button(word, () => {
        const mended = tokens.map((token) => (token === unknown ? word : token));
        save(model, { sentence: written(mended) });
        field.input.focus();
      }), " "]);
      const others = strange.slice(1).map((word) => `, nor is “${shortened(word)}”`).join("");
      const text = `The word “${shortened(unknown)}” is not in the grammar${others}. `
        + (near.length ? `Similar words: ` : `Words that often come here: `);
      complain(text, el("span", { class: "attn-buttons" }, buttons));
    } else if (end && end < tokens.length) {
      complain("Type one sentence at a time; the first one ends with "
        + `“${shortened(tokens[end - 2] ?? "")}.”`);
    } else if (tokens.length > LONGEST) {
      complain(`The sentence has ${tokens.length} tokens; the limit is ${LONGEST}.`);
    } else return tokens;
    return null;
  };

  const words = () => now.steps.slice(0, -1).map((step) => now.words[step.token]);
  const cut = () => now.steps.at(-1).token !== translator.eos;

  const describe = () => {
    const off = model.get("off").length;
    const before = whole.steps.map((step) => step.token);
    const after = now.steps.map((step) => step.token);
    const same = after.length === before.length && after.every((x, i) => x === before[i]);
    const setting = [
      off ? `${off} ${off === 1 ? "head" : "heads"} ablated` : "all heads on",
      `temperature ${number(model.get("temperature"), 2)}`,
    ].join(", ");
    const text = written(words()) + (cut() ? " … (no end reached)" : "");
    const plain = !off && model.get("temperature") === 1;
    const effect = plain ? "" : same
      ? " The translation does not change."
      : ` The whole model writes: ${written(whole.steps.slice(0, -1).map((s) => whole.words[s.token]))}`;
    say.say(`${text} — ${setting}.${effect}`);
  };

  const drawWords = () => {
    const before = whole.steps.map((step) => step.token);
    output.replaceChildren(...now.steps.map((step, i) => {
      const word = now.words[step.token];
      const changed = before[i] !== step.token;
      const choose = () => {
        if (!isDecoder(model.get("head"))) save(model, { head: model.get("best")[model.get("language")] });
        row = i;
        drawLarge();
        drawWords();
        output.children[i].focus();
      };
      return button(word, choose, {
        lang: CODES[model.get("language")],
        class: `attn-word${changed ? " attn-changed" : ""}`,
        "aria-pressed": String(isDecoder(model.get("head")) && i === row),
        tabindex: i === Math.min(row, now.steps.length - 1) ? 0 : -1,
      });
    }));
  };

  const drawLarge = () => {
    const name = model.get("head");
    const tile = tiles.get(name);
    const { rows, queries, keys } = weightsOf(name, now);
    const off = model.get("off").includes(name);
    title.textContent = `${tile.label[0].toUpperCase()}${tile.label.slice(1)}`
      + (off ? " (ablated: its output is zero)" : "")
      + ". Weights in per cent; rows are queries, columns are keys.";
    row = Math.min(row, queries.length - 1);
    const grid = percentGrid({
      label: `Weights of ${tile.label}`, rowLabels: queries, columnLabels: keys, row, rows,
      onselect: (r) => {
        row = r;
        if (isDecoder(name)) drawWords();
      },
      name: (q, k) => `${queries[q]} on ${keys[k]}`,
    });
    large.replaceChildren(grid.root);
  };

  const drawTable = () => {
    next.update(["step", "likeliest", "second", "third"], now.steps.map((step, i) => {
      const shares = softmax(Array.from(step.logits));
      const write = (k) => `${now.words[k]} ${number(100 * shares[k], 1)}%`;
      return [String(i + 1), ...ranked(shares, 3).map(write)];
    }));
  };

  const draw = () => {
    drawWords();
    drawTiles(model, tiles, (name) => weightsOf(name, now).rows);
    drawLarge();
  };

  const update = () => {
    field.set(model.get("sentence"));
    if (!translator) return;
    const source = checked();
    if (!source) return;
    const ids = [...source.map((token) => sources.indexOf(token)), translator.eos];
    const target = model.get("target_words")[model.get("language")];
    const how = { off: new Set(model.get("off")), temperature: model.get("temperature") };
    whole = run(ids, source, target, {});
    now = how.off.size || how.temperature !== 1 ? run(ids, source, target, how) : whole;
    results.hidden = false;
    draw();
    drawTable();
    describe();
    root.dataset.state = "done";
    save(model, { translation: words().join(" ") });
  };

  const start = () => {
    const language = model.get("language");
    begin.setAttribute("aria-disabled", "true");
    root.dataset.state = "loading";
    say.say("Loading the weights …");
    translatorOf(model, language).then((loaded) => {
      if (language !== model.get("language")) return start();
      translator = loaded;
      begin.setAttribute("aria-disabled", "false");
      begin.textContent = "Translate";
      return update();
    }).catch((error) => {
      begin.setAttribute("aria-disabled", "false");
      complain(error.message);
    });
  };

  watch(model, ["sentence", "off", "temperature"], update);
  watch(model, ["head"], () => now && !results.hidden && draw());
  watch(model, ["language"], () => {
    if (!translator) return;
    translator = null;
    start();
  });
  update();
  say.say(`A trained Transformer is ready. It knows ${sources.length - 4} English words and `
    + "punctuation marks; those that can come next are listed under the field.");
  root.dataset.state = "waiting";
});
