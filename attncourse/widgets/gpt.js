// A language model in the page: its next token, its temperature, its heads.

const PAUSE = 60; // milliseconds between two tokens
const SHOWN = 6; // tokens of the distribution

const QUESTION = "What does a small model of English novels expect next?";

export default widget("gpt", QUESTION, (root, model) => {
  const tokenizer = new Tokenizer(model.get("merges"));
  const context = model.get("context");
  let gpt = null; // the model, when it has been loaded
  let ids = [];
  let read = []; // for each token: logits after it, and weights
  let cache = null;
  let timer = null;
  const begun = model.get("text");
  let typed = null; // the text that `ids` was made from

  const say = report();
  const field = traitField(model, "text", "Text", { rows: 4, style: "field-sizing:fixed" });
  field.input.addEventListener("input", () => stop());
  const write = button("Continue", () => {
    if (write.textContent === "Stop") stop();
    else { write.textContent = "Stop"; go(); }
  }, { class: "attn-main" });
  const one = button("One token", () => { stop(); next(); });
  const again = anotherExample(model, "text", "Other text", () => stop());
  const reset = allHeadsOn(model);
  const temperature = traitSlider(model, "temperature", {
    label: "Temperature: low is predictable, high is varied", min: 0, max: 2, step: 0.05,
    write: (x) => number(x, 2) });
  const degree = () => `temperature ${number(model.get("temperature"), 2)}`;
  const { next: likely = [], more } = model.get("first");
  const drawn = el("p", {}, `One continuation, drawn at ${degree()}: … `, el("b", {}, more), " …");
  const above = heading();
  const bars = el("table", { class: "attn-data attn-next" });
  const words = el("div", { class: "attn-words" });
  const strip = scrollable("The tokens of the text", words);
  const title = heading();
  const { root: pictures, tiles } = headTiles(
    model, layerGroups("blocks", model.get("layers"), model.get("heads")));
  const results = el("div", { hidden: true },
    title, strip, pictures, el("div", { class: "attn-buttons" }, reset));
  root.append(field.root, el("div", { class: "attn-buttons" }, write, one, again), drawn,
    above, bars, temperature.root, say.root, results);

  const shown = (id) => visible(tokenizer, id);
  const chances = (logits, t) => {
    const list = Array.from(logits);
    if (t > 0) return softmax(list.map((x) => x / t));
    const top = largest(list);
    return list.map((_, i) => (i === top ? 1 : 0));
  };

  /** Read the tokens that have not been read yet. */
  const catchUp = () => {
    const how = { off: new Set(model.get("off")) };
    while (read.length < ids.length) read.push(gpt.step(ids[read.length], cache, how));
  };
  const startAgain = () => { read = []; cache = gpt.start(); catchUp(); draw(); };

  /** Bits for each byte of the text after its first token. */
  const bits = () => {
    const lost = ids.slice(1).map((id, i) => -Math.log2(softmax(Array.from(read[i].logits))[id]));
    const size = ids.slice(1).reduce((sum, id) => sum + tokenizer.tokens[id].length, 0);
    return lost.reduce((sum, x) => sum + x, 0) / size;
  };

  const drawBars = (list) => {
    above.textContent = `The likeliest next tokens at ${degree()}; ␣ is a space`;
    bars.replaceChildren(el("tbody", {}, list.map(([name, share]) =>
      tableRow(name, `${number(100 * share, 1)}%`, bar(share)))));
  };

  const draw = () => {
    const share = chances(read.at(-1).logits, model.get("temperature"));
    const order = ranked(share, SHOWN);
    drawBars(order.map((id) => [shown(id), share[id]]));
    const head = model.get("head");
    const [, layer, h] = head.split(".").map(Number);
    const rowOf = (l, k, i) => read[i].weights[l].subarray(k * (i + 1), (k + 1) * (i + 1));
    const last = rowOf(layer, h, ids.length - 1);
    title.textContent = `Where layer ${layer}, head ${h} looks from the last token`
      + (model.get("off").includes(head) ? " (ablated: its output is zero)" : "");
    words.replaceChildren(...ids.map((id, i) =>
      guess(last[i], false, shown(id), last[i] < 0.005 ? "" : `${number(100 * last[i], 0)}%`)));
    strip.scrollTop = strip.scrollHeight;
    drawTiles(model, tiles, (name) => {
      const [, l, k] = name.split(".").map(Number);
      return ids.map((_, i) => ids.map((__, j) => (j <= i ? rowOf(l, k, i)[j] : 0)));
    });
    const off = model.get("off").length;
    root.dataset.state = "done";
    say.say(`${ids.length} of ${context} tokens. Next, most likely: “${shown(order[0])}” with `
      + `${number(100 * share[order[0]], 1)}%.`
      + (ids.length > 1 ? ` The loss on the text is ${number(bits(), 2)} bits per byte` : "")
      + (ids.length > 1 ? (off ? `, with ${off} of ${tiles.size} heads ablated.` : ".") : ""));
  };

  const stop = () => {
    clearTimeout(timer);
    timer = null;
    write.textContent = "Continue";
  };

  const next = () => {
    if (!gpt || !read.length || ids.length >= context) return stop();
    let left = Math.random();
    const share = chances(read.at(-1).logits, model.get("temperature"));
    const drawn = share.findIndex((p) => (left -= p) < 0);
    ids.push(drawn < 0 ? largest(share) : drawn);
    catchUp();
    typed = tokenizer.decode(ids);
    save(model, { text: typed });
    field.input.scrollTop = field.input.scrollHeight;
    return draw();
  };
  const go = () => {
    if (gpt) next();
    if (gpt && write.textContent === "Stop") timer = setTimeout(go, PAUSE);
  };

  const update = () => {
    const text = model.get("text");
    drawn.hidden = !more || text !== begun;
    if (!gpt || text === typed) return;
    const found = tokenizer.encode(text);
    const refused = !found.length || found.length > context;
    for (const part of [results, above, bars]) part.hidden = refused;
    if (refused) {
      root.dataset.state = "refused";
      return say.say(found.length ? `The text has ${found.length} tokens; the limit is ${context}.`
        : "Type the beginning of a sentence.");
    }
    ids = found;
    typed = text;
    startAgain();
  };

  drawBars(likely);
  if (more) root.dataset.state = "first";
  say.say("Type, or press Continue: the model is then loaded.");
  live(model, ["text"], update);
  watch(model, ["off"], () => read.length && startAgain());
  watch(model, ["temperature", "head"], () => read.length && draw());
  watch(model, ["temperature"], () => drawn.remove());
  whenSeen(root, model, say, () => loadGPT(model), (loaded) => {
    gpt = loaded;
    update();
    if (write.textContent === "Stop") go();
  });
  model.ends.push(stop);
});
