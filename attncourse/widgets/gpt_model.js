// The trained GPT and its tokenizer, run in the page. The names of the weights and the
// order of the computation are those of attncourse.models.gpt.

const PIECES = / ?[\p{L}\p{Nl}\p{No}]+| ?\p{Nd}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Byte-pair encoding: the merges as in attncourse.data.bpe. */
class Tokenizer {
  constructor(merges) {
    const printable = [[33, 127], [161, 173], [174, 256]]
      .flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i));
    const bytes = [...new Set([...printable, ...Array(256).keys()])];
    this.ids = new Map(bytes.map((byte, id) => [byte, id]));
    this.tokens = bytes.map((byte) => [byte]);
    this.ranks = new Map();
    for (const [left, right] of merges) {
      this.ranks.set(`${left} ${right}`, this.tokens.length);
      this.tokens.push([...this.tokens[left], ...this.tokens[right]]);
    }
  }

  encode(text) {
    return (text.match(PIECES) ?? []).flatMap((piece) => {
      const word = [...new TextEncoder().encode(piece)].map((byte) => this.ids.get(byte));
      for (;;) {
        const pairs = word.slice(1).map((right, i) =>
          this.ranks.get(`${word[i]} ${right}`) ?? Infinity);
        const first = Math.min(...pairs);
        if (first === Infinity) return word;
        for (let i = 0; i < word.length - 1; i++) {
          if (this.ranks.get(`${word[i]} ${word[i + 1]}`) === first) word.splice(i, 2, first);
        }
      }
    });
  }

  decode(ids) {
    return new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => this.tokens[id])));
  }
}

/** The decoder-only `GPT`, one token at a time; what it has read is in the cache. */
class GPT {
  constructor(tensors, { heads }) {
    this.tensors = tensors;
    this.heads = heads;
    this.width = tensors["embedding.weight"].shape[1];
    this.layers = layersOf(tensors, "blocks");
  }

  start() {
    const empty = () => ({ keys: new Float32Array(0), values: new Float32Array(0) });
    return Array.from({ length: this.layers }, empty);
  }

  /**
   * Read a token; the cache grows. Returns the logits after it, each layer's weights,
   * and the residual stream: the embedding, then what each sub-layer makes of it.
   */
  step(token, cache, how = {}) {
    const { tensors, width, heads } = this;
    const weights = [];
    let x = embed([token], tensors, "embedding");
    const stream = [x];
    for (let i = 0; i < this.layers; i++) {
      const name = `blocks.${i}`;
      const options = { width, heads, rotary: true, start: cache[i].keys.length / width };
      const normed = this.norm(x, `${name}.attention_norm`);
      const now = project(normed, tensors, `${name}.attention`, options);
      cache[i] = extended(cache[i], now);
      const read = attend(normed, cache[i], tensors, `${name}.attention`, name, how, options);
      x = add(x, read.output);
      stream.push(x);
      const inner = this.norm(x, `${name}.feedforward_norm`);
      const gate = linear(inner, tensors, `${name}.feedforward.gate_proj`);
      const up = linear(inner, tensors, `${name}.feedforward.up_proj`);
      const gated = gate.map((value, j) => (value / (1 + Math.exp(-value))) * up[j]);
      x = add(x, linear(gated, tensors, `${name}.feedforward.down_proj`));
      stream.push(x);
      weights.push(read.weights);
    }
    return { logits: this.read(x), weights, stream };
  }

  /** Return the logits that the output matrix reads from a vector of the stream. */
  read(x) {
    return linear(this.norm(x, "final_norm"), this.tensors, "embedding");
  }

  norm(x, name) {
    const { data } = this.tensors[`${name}.weight`];
    const scale = 1 / Math.sqrt(x.reduce((sum, value) => sum + value ** 2, 0) / x.length + 1e-6);
    return x.map((value, i) => value * scale * data[i]);
  }
}

/** Return the model, loading its weights once. */
function loadGPT(model) {
  const heads = model.get("heads");
  return modelOf(model, "gpt", (buffer) => new GPT(readTensors(buffer), { heads }));
}

/** Show a token with its spaces and line breaks; bytes that are no character as numbers. */
function visible(tokenizer, id) {
  const text = tokenizer.decode([id]).replaceAll(" ", "␣").replaceAll("\n", "⏎");
  return /[\ufffd\p{Cc}]/u.test(text) ? `bytes ${tokenizer.tokens[id].join(" ")}` : text;
}
