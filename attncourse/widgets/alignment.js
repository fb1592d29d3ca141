// Alignment: what trained translators attend to, beside the gold links.

const ROW = 28; // pixels from one word to the next

const QUESTION = "Which English words does the translator attend to as it writes?";

export default widget("alignment", QUESTION, (root, model) => {
  const models = model.get("models");
  const compact = models.length === 1; // sentences that differ in a noun, without gold links
  const current = () => models.find((one) => one.name === model.get("translator"));
  const pair = () => current().pairs[model.get("sentence")];
  const weights = () => pair().weights[model.get("head")].map((row) => row.map((x) => x / 1000));
  let buttons = { source: [], target: [] };
  let picture = null;

  /** For each target word: what it attends to most, its gold links, and whether they agree. */
  const judged = (one = pair()) => one.weights[model.get("head")].map((row, t) => {
    const links = one.gold.filter((link) => link[1] === t).map((link) => link[0]);
    const top = largest(row);
    const state = !links.length ? "none" : links.includes(top) ? "right" : "wrong";
    return { top, links, state };
  });
  const MARKS = { right: "", wrong: "✗ ", none: compact ? "" : "· " };
  const SAID = { right: "on a gold link", wrong: "not on a gold link", none: "without a gold link" };

  const translators = traitChoice(model, "translator", "Translator",
    models.map((one) => [one.name, one.label]),
    (name) => ({ head: models.find((one) => one.name === name).best, word: -1 }));
  const sentences = sentenceSelect(model, models[0].pairs.map(({ source }) => source), { word: -1 });
  const heads = traitChoice(model, "head", "Head", current().errors.map((_, h) => [h, h]));
  const next = button("Next word that attends elsewhere", () => nextWrong());
  const say = report();
  const drawing = el("div", { class: "attn-align" });
  const legend = remark("Lines: the largest weight of each word, or all weights of the "
    + "chosen one. ✗ marks a word whose largest weight is on no gold link; · one without a gold link.");
  const table = dataTable({ caption: "What each word attends to most" });
  const nouns = models[0].pairs.map(({ source }, i) => [i, source.find((word, k) =>
    models[0].pairs.some((other) => other.source[k] !== word))]);
  root.firstChild.hidden = compact;
  root.append(...compact
    ? [traitChoice(model, "sentence", "Choose the noun, then a word below", nouns), say.root, drawing, table.root]
    : [translators, sentences, el("div", { class: "attn-buttons" }, heads, next), say.root, drawing,
      legend, table.root]);

  const chosen = () => ({ side: model.get("side"), word: model.get("word") });

  const nextWrong = () => {
    const count = current().pairs.length;
    const from = model.get("sentence");
    for (let step = 0; step <= count; step++) {
      const index = (from + step) % count;
      const one = current().pairs[index];
      const after = step === 0 && model.get("side") === "target" ? model.get("word") : -1;
      const found = judged(one).findIndex(({ state }, t) => t > after && state === "wrong");
      if (found < 0) continue;
      return save(model, { sentence: index, side: "target", word: found });
    }
    say.say("In these sentences every word with gold links has its largest weight on one of them.");
  };

  const line = (s, t, attributes) => svg("path", {
    d: `M0 ${(s + 0.5) * ROW} C 50 ${(s + 0.5) * ROW}, 50 ${(t + 0.5) * ROW}, 100 ${(t + 0.5) * ROW}`,
    "vector-effect": "non-scaling-stroke", ...attributes,
  });

  const drawLines = () => {
    const { gold: links } = pair();
    const shares = weights();
    const { side, word } = chosen();
    const parts = [];
    for (const [s, t] of links) {
      const far = word >= 0 && (side === "target" ? t !== word : s !== word);
      parts.push(line(s, t, { class: `attn-gold-line${far ? " attn-far" : ""}` }));
    }
    if (word < 0 && !compact) {
      judged().forEach(({ top, state }, t) =>
        parts.push(line(top, t, { class: `attn-link attn-${state}`, "stroke-width": 1.8 })));
    } else {
      shares.forEach((row, t) => row.forEach((share, s) => {
        const far = word >= 0 && (side === "target" ? t : s) !== word;
        if (share < 0.01 || (far && !compact)) return;
        const width = Math.max(1, 14 * share).toFixed(1);
        parts.push(line(s, t, { class: `attn-link attn-${far ? "far" : "own"}`, "stroke-width": width }));
      }));
    }
    picture.replaceChildren(...parts);
  };

  const drawWords = () => {
    const { gold: links } = pair();
    const shares = weights();
    const states = judged();
    const { side, word } = chosen();
    const paintOne = (own, i, node) => {
      const share = word < 0 || own === side ? null
        : side === "target" ? shares[word][i] : shares[i][word];
      const linked = word >= 0 && own !== side
        && links.some(([s, t]) => (own === "source" ? s : t) === i
          && (own === "source" ? t : s) === word);
      node.classList.toggle("attn-linked", linked);
      node.setAttribute("aria-pressed", String(own === side && i === word));
      node.lastChild.textContent = share === null || share < 0.005 ? "" : number(share, 2);
      paint(node, share ?? 0);
    };
    buttons.source.forEach((node, i) => paintOne("source", i, node));
    buttons.target.forEach((node, i) => paintOne("target", i, node));
    for (const own of ["source", "target"]) {
      const focus = own === side ? Math.max(word, 0) : 0;
      buttons[own].forEach((node, i) => (node.tabIndex = i === focus ? 0 : -1));
    }
    return states;
  };

  const describe = (states) => {
    const { source, target } = pair();
    const { side, word } = chosen();
    const shares = weights();
    if (word < 0 || word >= (side === "target" ? target : source).length) {
      const linked = states.filter(({ state }) => state !== "none").length;
      const wrong = states.filter(({ state }) => state === "wrong").length;
      const error = current().errors[model.get("head")];
      return say.say((compact ? "" : `Head ${model.get("head")}: ${wrong} of ${linked} words with a gold link attend `
        + `elsewhere in this sentence. Its alignment error on the test set, as recorded: `
        + `${number(error, 3)}. `) + "Choose a word to see all its weights.");
    }
    const own = side === "target" ? target : source;
    const row = side === "target" ? shares[word] : shares.map((line) => line[word]);
    const others = side === "target" ? source : target;
    const order = ranked(row, 3);
    const best = order.filter((i) => row[i] >= 0.01 || i === order[0])
      .map((i) => `“${others[i]}” (${number(row[i], 2)})`).join(", ");
    if (side === "source") return say.say(`“${own[word]}” gets the most weight from ${best}.`);
    const rest = 1 - row.reduce((sum, x) => sum + x, 0);
    const { links, state } = states[word];
    const real = links.length ? ` (${links.map((s) => `“${source[s]}”`).join(", ")})` : "";
    const end = rest >= 0.02 ? `, and the end of the sentence, which is not drawn (${number(rest, 2)})` : "";
    return say.say(compact ? `Cross-attention, head ${model.get("head")}: “${own[word]}” attends to ${best}${end}.`
      : `“${own[word]}” attends to ${best}${end}: ${SAID[state]}${real}.`);
  };

  const build = () => {
    const { source, target } = pair();
    const states = judged();
    const shares = weights();
    const height = ROW * Math.max(source.length, target.length);
    const make = (side) => (text, i) => {
      const more = side === "source" || compact ? {} : { "aria-description": SAID[states[i].state] };
      const mark = side === "target" ? MARKS[states[i].state] : "";
      return el("button", {
        type: "button", class: "attn-aligned", ...more,
        onclick: () => {
          const same = model.get("side") === side && model.get("word") === i;
          save(model, { side, word: same ? -1 : i });
        },
      }, el("span", {}, mark + text), el("span", { class: "attn-share" }));
    };
    buttons = { source: source.map(make("source")), target: target.map(make("target")) };
    const column = (side, name) => {
      const node = el("div", { class: `attn-column attn-${side}`, role: "group", "aria-label": name },
        buttons[side]);
      node.addEventListener("keydown", (event) => {
        const at = buttons[side].indexOf(document.activeElement);
        const last = buttons[side].length - 1;
        const to = {
          ArrowDown: Math.min(at + 1, last), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last,
        }[event.key];
        const across = { ArrowLeft: "source", ArrowRight: "target" }[event.key];
        if (to === undefined && across === undefined) return;
        event.preventDefault();
        const goal = across === undefined || across === side ? side : across;
        let word = to ?? at;
        if (goal !== side) {
          const row = side === "target" ? shares[at] : shares.map((line) => line[at]);
          word = largest(row);
        }
        save(model, { side: goal, word });
        buttons[goal][word].focus();
      });
      return node;
    };
    picture = svg("svg", {
      viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true",
      style: `height:${height}px;width:100%`,
    });
    drawing.replaceChildren(column("source", "English"), picture,
      column("target", current().label));
    const columns = ["word", "attends most to", "weight", "gold", ""].slice(0, compact ? 3 : 5);
    table.update(columns, states.map((one, t) => [
      target[t], source[one.top], number(shares[t][one.top], 2),
      one.links.map((s) => source[s]).join(", ") || "–",
      { right: "right", wrong: "elsewhere", none: "no link" }[one.state],
    ].slice(0, columns.length)));
    show();
  };

  const show = () => {
    const states = drawWords();
    drawLines();
    describe(states);
    root.dataset.wrong = states.filter(({ state }) => state === "wrong").length;
  };

  live(model, ["translator", "sentence", "head"], build);
  watch(model, ["side", "word"], show);
});
