// The translator: a sentence goes in, its translation comes out word by word, and every
// head can be looked at and switched off. The model runs here, in the page.

const PAUSE = 160; // milliseconds between two words
const LONGEST = 40; // source tokens
const CODES = { french: "fr", german: "de", japanese: "ja-Latn" };
const PLACES = [
  ["encoder.0", "Encoder, layer 0: the source reads itself", "encoder layer 0"],
  ["encoder.1", "Encoder, layer 1: it reads itself again", "encoder layer 1"],
  ["decoder.0", "Decoder: what it has written so far", "decoder self-attention"],
  ["cross.0", "Decoder: the source (cross-attention)", "cross-attention"],
];

/** Cut a sentence into the tokens of the grammar; a full stop ends it. */
function tokensOf(text) {
  const plain = text.toLowerCase().replaceAll("\u2019", "'");
  const found = plain.match(/[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*'?|[^\s\p{L}\p{N}_]/gu) ?? [];
  return found.length && found.at(-1) !== "." ? [...found, "."] : found;
}

/** Count the letters to change, add, leave out or exchange to get from a to b. */
function editDistance(a, b) {
  const d = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 1; j <= b.length; j++) d[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      d[i][j] = Math.min(
        d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] !== b[j - 1]),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.length][b.length];
}

/** Return at most three words that are spelt much like one. */
function nearWords(word, words) {
  return words
    .filter((other) => /\p{L}/u.test(other))
    .map((other, rank) => {
      const begins = other.startsWith(word) || word.startsWith(other) ? 0.5 : 0;
      const size = Math.max(word.length, other.length);
      return [(editDistance(word, other) - begins) / size + rank / 1e5, other];
    })
    .filter(([far]) => far < 0.5)
    .sort((a, b) => a[0] - b[0])
    .slice(0, 3)
    .map(([, other]) => other);
}

/** Join tokens as they are written. */
function written(tokens) {
  const text = tokens.join(" ").replace(/ ([.,])/g, "$1").replace(/(\p{L}') /gu, "$1");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Say whether the page is one of the built site, where no kernel answers. */
function siteRoot() {
  return document.documentElement.dataset.content_root;
}

const loading = {}; // promises of buffers, by language

function fetchWeights(model, language) {
  return new Promise((resolve, reject) => {
    if (siteRoot() === undefined) {
      const late = setTimeout(
        () => reject(new Error("Python does not answer. Run the cell again.")), 30_000,
      );
      const listener = (content, buffers) => {
        if (content.weights !== language) return;
        clearTimeout(late);
        model.off("msg:custom", listener);
        const { buffer, byteOffset, byteLength } = buffers[0];
        const isView = buffer !== undefined;
        resolve(isView ? buffer.slice(byteOffset, byteOffset + byteLength) : buffers[0]);
      };
      model.on("msg:custom", listener);
      model.send({ ask: "weights", language });
      return;
    }
    const file = `${siteRoot()}_static/models/translation_${language}.js`;
    const script = el("script", { src: new URL(file, document.baseURI).href });
    script.onload = () => {
      resolve(fromBase64(window.attnWeights[language]));
      delete window.attnWeights[language];
      script.remove();
    };
    script.onerror = () => {
      script.remove();
      reject(new Error(`The weights could not be loaded: ${file} is missing.`));
    };
    document.head.append(script);
  });
}

/** Return the translator of a language, loading its weights once. */
function translatorOf(model, language) {
  loading[language] ??= fetchWeights(model, language).then((buffer) => {
    performance.mark("attn-translator-begin");
    const translator = new Translator(readTensors(buffer));
    translator.translate([4, 5, translator.eos]); // a first run, to warm up
    performance.measure("attn-translator-ready", "attn-translator-begin");
    return translator;
  });
  loading[language].catch(() => delete loading[language]);
  return loading[language];
}

/** A field in which words are completed: { root, input, set(text) }. */
function sentenceField({ words, follow, onenter }) {
  const id = uniqueId("sentence");
  const list = el("div", { id: `${id}-list`, role: "listbox", "aria-label": "Words" });
  const input = el("input", {
    id, type: "text", role: "combobox", "aria-controls": `${id}-list`,
    "aria-expanded": "false", "aria-autocomplete": "list", autocomplete: "off",
    autocapitalize: "none", spellcheck: "false",
  });
  let active = -1;
  let offered = [];

  const beginning = () => {
    const before = input.value.slice(0, input.selectionStart ?? input.value.length);
    const word = before.match(/[\p{L}-]*$/u)[0].toLowerCase();
    const earlier = tokensOf(before.slice(0, before.length - word.length) + " x");
    return { word, previous: earlier.at(-3) ?? "" };
  };
  const mark = (index) => {
    active = index;
    [...list.children].forEach((option, i) =>
      option.setAttribute("aria-selected", String(i === active)));
    if (active < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[active].id);
  };
  const close = () => {
    offered = [];
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  };
  const accept = (word) => {
    const at = input.selectionStart ?? input.value.length;
    const from = at - beginning().word.length;
    const rest = input.value.slice(at).replace(/^[\p{L}-]*\s*/u, "");
    const stop = word === "." || word === ",";
    const before = stop ? input.value.slice(0, from).trimEnd() : input.value.slice(0, from);
    const start = `${before}${word} `;
    input.value = (start + rest).replace(/\. $/, ".");
    input.setSelectionRange(start.length, start.length);
    input.focus();
    offer();
  };
  const offer = () => {
    const { word, previous } = beginning();
    const likely = follow[previous] ?? [];
    const fits = [...new Set([...likely, ...words])].filter((other) =>
      word ? other.startsWith(word) && other !== word : likely.includes(other));
    offered = fits.slice(0, 8);
    list.replaceChildren(...offered.map((other, i) =>
      el("div", {
        id: `${id}-${i}`, role: "option", "aria-selected": "false",
        onpointerdown: (event) => event.preventDefault(),
        onclick: () => accept(other),
      }, other)));
    input.setAttribute("aria-expanded", String(offered.length > 0));
    mark(-1);
  };
  input.addEventListener("input", offer);
  input.addEventListener("focus", offer);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && offered.length) {
      event.preventDefault();
      const count = offered.length + 1; // one of them: no word at all
      mark(((active + 1 + step + count) % count) - 1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) accept(offered[active]);
      else {
        close();
        onenter(input.value);
      }
    } else if (event.key === "Escape") close();
  });
  const label = el("label", { for: id }, "English sentence");
  const root = el("div", {}, label, input, list);
  return { root, input, set: (text) => text !== input.value && (input.value = text) };
}

function render({ model, el: place }) {
  const root = frame(place, {
    name: "translator",
    question: "Which of its sixteen heads does the translator need for your sentence?",
  });
  const sources = model.get("source_words");
  let translator = null; // the model, when it has been loaded
  let whole = null; // what it writes with all heads on, at temperature 1
  let now = null; // what it writes as it is set
  let visible = 0; // words that have appeared
  let timer = null;
  let row = 0; // the chosen row of the large picture

  const say = report();
  const field = sentenceField({
    words: sources, follow: model.get("follow"),
    onenter: (text) => {
      save(model, { sentence: text });
      if (!translator) start();
    },
  });
  const languages = choice({
    legend: "Into",
    options: model.get("languages"),
    value: model.get("language"),
    onchange: (language) => save(model, { language }),
  });
  const begin = el("button", { type: "button", class: "attn-main", onclick: () => {
    save(model, { sentence: field.input.value });
    if (translator) update({ slowly: true });
    else start();
  } }, "Start the translator (0.7 MB)");
  const other = el("button", { type: "button", onclick: () => {
    const all = model.get("examples");
    const at = all.indexOf(model.get("sentence"));
    save(model, { sentence: all[(at + 1) % all.length] });
  } }, "Another sentence");
  const temperature = slider({
    label: "Temperature: the scores of all heads are divided by it",
    min: -1, max: 1, step: 0.05, value: Math.log10(model.get("temperature")),
    write: (x) => number(10 ** x, 2),
    oninput: (x) => save(model, { temperature: Number((10 ** x).toFixed(4)) }),
  });
  const reset = el("button", { type: "button", onclick: () =>
    save(model, { off: [], temperature: 1 }) }, "All heads on, temperature 1");
  const output = el("div", { class: "attn-words", role: "group", "aria-label": "Translation" });
  const heads = PLACES.map(([name, legend, label]) => ({
    legend,
    heads: [0, 1, 2, 3].map((h) => ({
      name: `${name}.${h}`, label: `${label}, head ${h}`, short: `${h}`,
    })),
  }));
  const { root: groups, tiles } = headTiles({
    groups: heads,
    onshow: (head) => save(model, { head }),
    onswitch: (name, on) => {
      const off = model.get("off").filter((one) => one !== name);
      save(model, { off: on ? off : [...off, name].sort() });
    },
  });
  const large = el("div", {});
  const title = el("p", { class: "attn-heading" });
  const next = dataTable({
    summary: "How sure is it of each word?", caption: "The three likeliest words at each step",
  });
  const results = el("div", { hidden: true },
    el("p", { class: "attn-heading" }, "Translation (choose a word to see its row)"), output,
    temperature.root, el("div", { class: "attn-buttons" }, reset), groups, title, large,
    next.root);
  root.append(languages.root, field.root,
    el("div", { class: "attn-buttons" }, begin, other), say.root, results);

  /** Return the weights of a head as rows, with the names of rows and columns. */
  const weightsOf = (name, run) => {
    const [part, layerText, headText] = name.split(".");
    const layer = Number(layerText);
    const head = Number(headText);
    const read = [...run.source, "<eos>"];
    const wrote = run.steps.map((step) => run.words[step.token]);
    if (part === "encoder") {
      const rows = rowsOf(run.encoder[layer], head, read.length, read.length);
      return { rows, queries: read, keys: read };
    }
    const rows = run.steps.map(({ weights }) => {
      const flat = weights[part][layer];
      const keys = flat.length / translator.heads;
      return Array.from(flat.subarray(head * keys, (head + 1) * keys));
    });
    const keys = part === "cross" ? read : ["<bos>", ...wrote.slice(0, -1)];
    return { rows, queries: wrote, keys };
  };
  const isDecoder = (name) => !name.startsWith("encoder");

  const run = (ids, source, words, how) => {
    performance.mark("attn-translate-begin");
    const found = translator.translate(ids, how);
    performance.measure("attn-translate", {
      start: "attn-translate-begin", detail: { words: found.steps.length },
    });
    return { ...found, source, words };
  };

  const complain = (text, ...parts) => {
    results.hidden = true;
    root.dataset.state = "refused";
    say.say(text, ...parts);
  };

  /** Check the sentence; return its tokens, or null after saying what is wrong. */
  const checked = () => {
    const tokens = tokensOf(model.get("sentence"));
    const strange = tokens.filter((token) => !sources.includes(token));
    if (!tokens.length) {
      complain("Type a sentence, such as: " + model.get("examples")[0]);
    } else if (strange.length) {
      const [unknown] = strange;
      const before = tokens[tokens.indexOf(unknown) - 1] ?? "";
      const near = nearWords(unknown, sources);
      const offered = near.length ? near : (model.get("follow")[before] ?? []).slice(0, 3);
      const buttons = offered.map((word) => el("button", { type: "button", onclick: () => {
        const mended = tokens.map((token) => (token === unknown ? word : token));
        save(model, { sentence: written(mended) });
        field.input.focus();
      } }, word));
      const others = strange.slice(1).map((word) => `, nor is “${word}”`).join("");
      const text = `The word “${unknown}” is not in the grammar${others}. `
        + (near.length ? `Near “${unknown}”: ` : `In its place: `);
      complain(text + offered.join(", "), text,
        el("span", { class: "attn-buttons" }, buttons));
    } else if (tokens.length > LONGEST) {
      complain(`The sentence has ${tokens.length} tokens; ${LONGEST} is the most.`);
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
      off ? `${off} ${off === 1 ? "head" : "heads"} off` : "all heads on",
      `temperature ${number(model.get("temperature"), 2)}`,
    ].join(", ");
    const text = written(words()) + (cut() ? " … (it finds no end)" : "");
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
      return el("button", {
        type: "button", lang: CODES[model.get("language")],
        class: `attn-word${changed ? " attn-changed" : ""}${i < visible ? "" : " attn-soon"}`,
        "aria-pressed": String(isDecoder(model.get("head")) && i === row),
        onclick: () => {
          if (!isDecoder(model.get("head"))) save(model, { head: model.get("best")[model.get("language")] });
          row = i;
          drawLarge();
          drawWords();
          output.children[i].focus();
        },
      }, word);
    }));
  };

  const drawLarge = () => {
    const name = model.get("head");
    const tile = tiles.get(name);
    const { rows, queries, keys } = weightsOf(name, now);
    const off = model.get("off").includes(name);
    title.textContent = `${tile.label[0].toUpperCase()}${tile.label.slice(1)}`
      + (off ? " (switched off: it looks, but writes nothing)" : "")
      + ". Weights in per cent; rows look, columns are looked at.";
    row = Math.min(row, queries.length - 1);
    const grid = heatGrid({
      label: `Weights of ${tile.label}`, rowLabels: queries, columnLabels: keys,
      onselect: (r) => {
        row = r;
        if (isDecoder(name)) drawWords();
      },
    });
    grid.table.classList.add("attn-dense");
    const full = rows.map((line) => keys.map((_, k) => line[k] ?? 0));
    grid.update(full, (x) => (x < 0.005 ? "" : Math.round(100 * x).toString()),
      (x, q, k) => `${queries[q]} on ${keys[k]}: ${Math.round(100 * x)} per cent`);
    const top = rows[row].indexOf(Math.max(...rows[row]));
    grid.select(row, top);
    if (isDecoder(name)) {
      grid.cells.forEach((line, r) =>
        (line[0].parentNode.style.visibility = r < visible ? "visible" : "hidden"));
    }
    large.replaceChildren(grid.root);
  };

  const drawTiles = () => {
    for (const [name, tile] of tiles) {
      const { rows, keys } = weightsOf(name, now);
      const seen = isDecoder(name) ? rows.map((line, r) => (r < visible ? line : [])) : rows;
      tile.draw(seen.map((line) => keys.map((_, k) => line[k] ?? 0)));
      const on = !model.get("off").includes(name);
      tile.set({ on, shown: name === model.get("head") });
    }
  };

  const drawTable = () => {
    next.update(["step", "likeliest", "second", "third"], now.steps.map((step, i) => {
      const shares = softmax(Array.from(step.logits));
      const order = shares.map((_, k) => k).sort((a, b) => shares[b] - shares[a]);
      const write = (k) => `${now.words[k]} ${number(100 * shares[k], 1)} %`;
      return [String(i + 1), ...order.slice(0, 3).map(write)];
    }));
  };

  const draw = () => {
    drawWords();
    drawTiles();
    drawLarge();
  };

  /** Show the words one after the other, each with its rows of attention. */
  const reveal = () => {
    visible += 1;
    row = visible - 1;
    draw();
    if (visible < now.steps.length) timer = setTimeout(reveal, PAUSE);
    else finish();
  };
  const finish = () => {
    if (visible < now.steps.length || row === visible - 1) row = Math.min(row, 1);
    visible = now.steps.length;
    draw();
    drawTable();
    describe();
    root.dataset.state = "done";
    save(model, { translation: words().join(" ") });
  };

  const update = ({ slowly = false } = {}) => {
    clearTimeout(timer);
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
    root.dataset.state = "writing";
    if (slowly && !calm()) {
      visible = 0;
      reveal();
    } else finish();
  };

  const start = () => {
    const language = model.get("language");
    begin.disabled = true;
    root.dataset.state = "loading";
    say.say("Loading the weights …");
    translatorOf(model, language).then((loaded) => {
      if (language !== model.get("language")) return start();
      translator = loaded;
      begin.disabled = false;
      begin.textContent = "Translate";
      return update({ slowly: true });
    }).catch((error) => {
      begin.disabled = false;
      complain(error.message);
    });
  };

  const stops = [
    watch(model, ["sentence"], () => update({ slowly: true })),
    watch(model, ["off", "temperature"], () => {
      temperature.set(Math.log10(model.get("temperature")));
      update();
    }),
    watch(model, ["head"], () => {
      if (!now || results.hidden) return;
      drawTiles();
      drawLarge();
      drawWords();
    }),
    watch(model, ["language"], () => {
      languages.set(model.get("language"));
      if (translator) {
        translator = null;
        start();
      }
    }),
    onTheme(() => tiles.forEach((tile) => tile.redraw())),
  ];
  update();
  say.say(`A trained Transformer waits. It knows ${sources.length - 4} English words and `
    + "signs; under the field stand those that can come next.");
  root.dataset.state = "waiting";
  return () => {
    clearTimeout(timer);
    stops.forEach((stop) => stop());
  };
}

export default { render };
