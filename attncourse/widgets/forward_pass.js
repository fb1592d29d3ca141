// One text on its way through the trained GPT, sub-layer by sub-layer: the vector of each
// token, what it reads from others, and what would be predicted if the model ended there.

const ROW = 40; // pixels of a row, and of the arcs beside it
const LONGEST = 16; // tokens
const GLIDE = 450; // milliseconds from one vector to the next
const REST = 1900; // milliseconds at each stage
const LEAST = 0.02; // chance below which a token is no guess
const FIRST = 8; // components in the table of numbers
const ALL = "all";

const QUESTION = "How does a text become a prediction, layer by layer?";

export default widget("forward-pass", QUESTION, (root, model) => {
  const tokenizer = new Tokenizer(model.get("merges"));
  const layers = model.get("layers");
  const last = 2 * layers; // stage 0 is the embedding
  let gpt = null;
  let ids = [];
  let steps = []; // for each token: weights and the residual stream
  let rows = [];
  let shownVectors = []; // what the strips show now, between two stages too
  let timer = null;
  let motion = null;

  const say = report();
  const field = traitField(model, "text", `Text, at most ${LONGEST} tokens`,
    { autocomplete: "off" });
  const stage = traitSlider(model, "stage", { label: "Stage", min: 0, max: last, write: nameOf });
  for (const { input } of [field, stage]) input.addEventListener("input", () => stop());
  field.input.addEventListener("input", () => save(model, { token: LONGEST - 1 }));
  const move = (by) => {
    const to = Math.min(last, Math.max(0, model.get("stage") + by));
    save(model, { stage: to });
    if (to === last) stop();
  };
  const back = button("Back", () => { stop(); move(-1); });
  const next = button("Next", () => { stop(); move(1); }, { class: "attn-main" });
  const play = calm() ? null : button("Play", () => {
    if (timer) return stop();
    play.textContent = "Stop";
    if (model.get("stage") === last) save(model, { stage: 0 });
    timer = setInterval(() => move(1), REST);
  });
  const head = traitChoice(model, "head", "Weights of", [[ALL, "all heads, on average"],
    ...Array.from({ length: model.get("heads") }, (_, h) => [`${h}`, `head ${h}`])]);
  const arcs = svg("svg", { width: 64, preserveAspectRatio: "none", "aria-hidden": "true" });
  const body = el("tbody", {});
  const table = el("table", { class: "attn-flow" },
    el("thead", {}, headRow(["", "Token", "Weight", "Vector",
      "Next, if the model ended here"])), body);
  const above = heading();
  const sum = el("tbody", {});
  const numbers = dataTable({
    summary: "The vector of the chosen token in numbers", caption: "The chosen token" });
  const results = el("div", { hidden: true }, stage.root,
    el("div", { class: "attn-buttons" }, back, next, play), say.root,
    above, el("table", { class: "attn-sum" }, sum),
    remark("In a vector, what is above 0 is blue, and what is below is orange. ␣ is a space."),
    scrollable("The tokens at this stage", table), head, numbers.root);
  const waiting = report();
  root.append(field.root, waiting.root, results);

  function nameOf(k) {
    if (k === 0) return "embedding";
    return `layer ${Math.ceil(k / 2) - 1}, ${k % 2 ? "attention" : "feed-forward network"}`;
  }

  /** Weights of the chosen token at this stage, or null where nothing is read. */
  const weightsNow = () => {
    const k = model.get("stage");
    if (k % 2 === 0) return null;
    const query = chosen();
    const all = steps[query].weights[(k - 1) / 2];
    const ofHead = (h) => Array.from(all.subarray(h * (query + 1), (h + 1) * (query + 1)));
    if (model.get("head") !== ALL) return ofHead(Number(model.get("head")));
    const heads = Array.from({ length: model.get("heads") }, (_, h) => ofHead(h));
    return heads[0].map((_, j) => heads.reduce((sum, row) => sum + row[j], 0) / heads.length);
  };
  const chosen = () => Math.min(model.get("token"), ids.length - 1);

  const stop = () => {
    clearInterval(timer);
    timer = null;
    if (play) play.textContent = "Play";
  };

  /** One row: a token to choose, its weight, its vector as a strip, what is predicted. */
  const makeRows = () => {
    const side = el("td", { rowspan: ids.length, class: "attn-arcs" }, arcs);
    rows = ids.map((id, i) => {
      const pick = button(visible(tokenizer, id), () => save(model, { token: i }),
        { class: "attn-word" });
      const strip = el("canvas", { width: gpt.width, height: 1, "aria-hidden": "true" });
      const [weight, guess] = [el("td", {}), el("td", {})];
      const line = el("tr", {}, i ? null : side, el("th", { scope: "row" }, pick), weight,
        el("td", {}, strip), guess);
      return { line, pick, strip, weight, guess };
    });
    body.replaceChildren(...rows.map(({ line }) => line));
    arcs.style.height = `${ids.length * ROW}px`; // also where the column is narrow
    arcs.setAttribute("viewBox", `0 0 64 ${ids.length * ROW}`);
    arcs.replaceChildren(...ids.map(() => svg("path", { class: "attn-arc" })));
    shownVectors = [];
  };

  /** Paint a vector: positive components in one colour, negative ones in another. */
  const paintStrip = (strip, x, most = size(x)) => {
    const style = getComputedStyle(root);
    const colours = ["--attn-query", "--attn-key"].map((n) => style.getPropertyValue(n).trim());
    const pen = strip.getContext("2d");
    pen.clearRect(0, 0, x.length, 1);
    x.forEach((value, j) => {
      pen.fillStyle = colours[value < 0 ? 1 : 0];
      pen.globalAlpha = Math.abs(value) / most;
      pen.fillRect(j, 0, 1, 1);
    });
  };
  const size = (x) => Math.max(...x.map(Math.abs));
  const paintStrips = (vectors) => {
    shownVectors = vectors;
    vectors.forEach((x, i) => paintStrip(rows[i].strip, x));
  };

  /** Show what a stage adds to the chosen token's vector, on one scale. */
  const drawSum = (terms, token) => {
    above.textContent = `The vector of “${token}”, and its length (norm)`;
    const most = Math.max(...terms.map(([, x]) => size(x)));
    sum.replaceChildren(...terms.map(([name, x]) => {
      const strip = el("canvas", { width: x.length, height: 1, "aria-hidden": "true" });
      paintStrip(strip, x, most);
      return tableRow(name, strip, number(Math.hypot(...x), 1));
    }));
    const components = (x) => Array.from(x.slice(0, FIRST), (value) => number(value, 3));
    numbers.update(["", ...Array.from({ length: FIRST }, (_, j) => `component ${j}`)],
      terms.map(([name, x]) => [name, ...components(x)]),
      `The first ${FIRST} of ${gpt.width} components for “${token}”`);
  };
  const glide = (to) => {
    cancelAnimationFrame(motion);
    const from = shownVectors;
    if (calm() || from.length !== to.length) return paintStrips(to);
    const begin = performance.now();
    const draw = (now) => {
      const t = Math.min(1, Math.max(0, (now - begin) / GLIDE));
      paintStrips(to.map((x, i) => x.map((value, j) => from[i][j] + t * (value - from[i][j]))));
      if (t < 1) motion = requestAnimationFrame(draw);
    };
    motion = requestAnimationFrame(draw);
    return null;
  };

  const drawArcs = (weights, query) => {
    const middle = (i) => (i + 0.5) * ROW;
    [...arcs.children].forEach((arc, key) => {
      const bow = 58 - Math.min(52, 12 * (query - key));
      const d = key === query ? `M60 ${middle(key) - 9}C40 ${middle(key) - 9} 40 ${
        middle(key) + 9} 60 ${middle(key) + 9}` : `M60 ${middle(query)}C${bow} ${
        middle(query)} ${bow} ${middle(key)} 60 ${middle(key)}`;
      const weight = weights?.[key] ?? 0;
      arc.setAttribute("d", d);
      arc.setAttribute("stroke-width", weight && 0.5 + 9 * weight);
      arc.setAttribute("stroke-opacity", weight && 0.15 + 0.85 * Math.sqrt(weight));
    });
  };

  const draw = () => {
    const k = model.get("stage");
    const query = chosen();
    const weights = weightsNow();
    back.disabled = k === 0;
    next.disabled = k === last;
    head.style.visibility = weights ? "" : "hidden";
    const vectors = steps.map(({ stream }) => stream[k]);
    const guesses = vectors.map((x) => {
      const share = softmax(Array.from(gpt.read(x)));
      const best = largest(share);
      return [visible(tokenizer, best), share[best]];
    });
    rows.forEach((row, i) => {
      row.pick.setAttribute("aria-pressed", String(i === query));
      const read = weights?.[i];
      row.weight.textContent = read === undefined ? "–" : `${number(100 * read, 0)}%`;
      row.guess.textContent = guesses[i][1] < LEAST ? "no clear guess"
        : `${guesses[i][0]}  ${number(100 * guesses[i][1], 0)}%`;
    });
    drawArcs(weights, query);
    glide(vectors.map((x) => Array.from(x)));
    root.dataset.state = "done";
    const token = visible(tokenizer, ids[query]);
    const [before, after] = [steps[query].stream[k - 1], vectors[query]];
    const added = k && [`+ ${k % 2 ? "attention" : "feed-forward"}`, after.map((x, j) => x - before[j])];
    drawSum(k ? [["before", before], added, ["= after", after]] : [[nameOf(0), after]], token);
    say.say([
      k === 0 ? "Each token begins as its row of the embedding. The output matrix is the same "
        + "matrix, so at first tokens often predict themselves."
        : weights ? `“${token}” reads the tokens up to it, ${mostly(weights)}, and what it `
          + "reads is added to its vector." : `The network changes the vector of “${
          token}” without looking at any other.`,
      guesses[query][1] < LEAST ? "" : `Next, if the model ended here: “${guesses[query][0]}”.`,
      k === last ? "This was the last layer: that is the model’s prediction." : "",
    ].join(" ").trim());
  };

  const mostly = (weights) => {
    const most = Math.max(...weights);
    if (weights.length < 2) return "here only itself";
    if (most - Math.min(...weights) < 0.05) return "all about equally";
    return `most of all “${visible(tokenizer, ids[largest(weights)])}”`;
  };

  const update = () => {
    if (!gpt) return;
    const found = tokenizer.encode(model.get("text"));
    const refused = !found.length || found.length > LONGEST;
    results.hidden = refused && !steps.length;
    results.inert = refused;
    waiting.root.hidden = !refused;
    if (refused) {
      root.dataset.state = "refused";
      return waiting.say(found.length ? `The text has ${found.length} tokens; the limit is ${LONGEST}.`
        : "Type the beginning of a sentence.");
    }
    ids = found;
    const cache = gpt.start();
    steps = ids.map((id) => gpt.step(id, cache));
    makeRows();
    draw();
  };

  watch(model, ["text"], update);
  watch(model, ["stage", "token", "head"], () => steps.length && draw());
  onTheme(model, () => steps.length && draw());
  whenSeen(root, model, waiting, () => loadGPT(model), (loaded) => { gpt = loaded; update(); });
  model.ends.push(stop, () => cancelAnimationFrame(motion));
});
