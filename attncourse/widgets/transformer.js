// The Transformers of the course, run in the page from their weights.
//
// Everything is a Float32Array in row order; a row is one token. The names of the
// weights and the order of the computation are those of attncourse.models, and
// tests/widgets/test_engine.py holds the two against each other. Python puts this text
// behind shared.js, from which `softmax` is.

/** Read IEEE half precision numbers. */
function halves(bits) {
  const sizes = Float64Array.from({ length: 31 }, (_, e) => 2 ** (Math.max(e, 1) - 25));
  const out = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) {
    const exponent = (bits[i] >> 10) & 31;
    const fraction = (bits[i] & 1023) + (exponent ? 1024 : 0);
    out[i] = (bits[i] & 32768 ? -fraction : fraction) * sizes[exponent];
  }
  return out;
}

/** Read a safetensors file: {name: {shape, data}}. */
function readTensors(buffer) {
  const view = new DataView(buffer);
  const length = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  delete header.__metadata__;
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(header)) {
    const bytes = buffer.slice(8 + length + from, 8 + length + to);
    if (dtype === "F16") tensors[name] = { shape, data: halves(new Uint16Array(bytes)) };
    else if (dtype === "F32") tensors[name] = { shape, data: new Float32Array(bytes) };
    else if (dtype === "I8") tensors[name] = { shape, data: Float32Array.from(new Int8Array(bytes)) };
    else throw new Error(`weights of type ${dtype} cannot be read`);
  }
  for (const [name, { shape: [rows], data: scale }] of Object.entries(tensors)) {
    if (!name.endsWith(".scale")) continue; // rows in 8 bits, each with its scale
    const { data } = tensors[name.slice(0, -6)];
    for (let i = 0; i < data.length; i++) data[i] *= scale[Math.floor((i * rows) / data.length)];
    delete tensors[name];
  }
  return tensors;
}

/** Turn base64 into an ArrayBuffer. */
function fromBase64(text) {
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes.buffer;
}

function linear(x, tensors, name, ending = "") {
  const { shape: [wide, narrow], data: weight } = tensors[`${name}.weight${ending}`];
  const bias = tensors[`${name}.bias${ending}`]?.data;
  const rows = x.length / narrow;
  const out = new Float32Array(rows * wide);
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < wide; i++) {
      let sum = bias ? bias[i] : 0;
      const from = i * narrow;
      for (let j = 0; j < narrow; j++) sum += weight[from + j] * x[r * narrow + j];
      out[r * wide + i] = sum;
    }
  }
  return out;
}

function norm(x, tensors, name) {
  const weight = tensors[`${name}.weight`].data;
  const bias = tensors[`${name}.bias`].data;
  const width = weight.length;
  const out = new Float32Array(x.length);
  for (let from = 0; from < x.length; from += width) {
    let mean = 0;
    for (let i = 0; i < width; i++) mean += x[from + i] / width;
    let variance = 0;
    for (let i = 0; i < width; i++) variance += (x[from + i] - mean) ** 2 / width;
    const scale = 1 / Math.sqrt(variance + 1e-5);
    for (let i = 0; i < width; i++) {
      out[from + i] = (x[from + i] - mean) * scale * weight[i] + bias[i];
    }
  }
  return out;
}

function add(x, y) {
  return x.map((value, i) => value + y[i]);
}

function embed(ids, tensors, name) {
  const { shape: [, width], data } = tensors[`${name}.weight`];
  const out = new Float32Array(ids.length * width);
  ids.forEach((id, i) => out.set(data.subarray(id * width, (id + 1) * width), i * width));
  return out;
}

/** Turn pairs of features by angles that grow with the position, in place. */
function rotate(x, width, dHead, start) {
  const turned = dHead - (dHead % 2);
  for (let from = 0, p = start; from < x.length; from += width, p++) {
    for (let head = 0; head < width; head += dHead) {
      for (let i = 0; i < turned; i += 2) {
        const angle = p * 10000 ** (-i / dHead);
        const cos = Math.cos(angle);
        const sin = Math.sin(angle);
        const at = from + head + i;
        const first = x[at];
        const second = x[at + 1];
        x[at] = first * cos - second * sin;
        x[at + 1] = first * sin + second * cos;
      }
    }
  }
  return x;
}

/** Return keys and values of all heads, `x` being what they are made from. */
function project(x, tensors, name, { width, heads, rotary = false, start = 0 }) {
  const keys = linear(x, tensors, `${name}.key_proj`);
  if (rotary) rotate(keys, width, width / heads, start);
  return { keys, values: linear(x, tensors, `${name}.value_proj`) };
}

/**
 * Attend from the rows of `x` to keys and values.
 *
 * `place` names the layer in `how.off`, a set of heads that write nothing, such as
 * "cross.0.2"; `how.temperature` divides the scores. Returns the output and the
 * weights (heads × queries × keys).
 */
function attend(x, { keys, values }, tensors, name, place, how, options) {
  const { width, heads, rotary = false, start = 0, causal = false } = options;
  const dHead = width / heads;
  const query = linear(x, tensors, `${name}.query_proj`);
  if (rotary) rotate(query, width, dHead, start);
  const queries = x.length / width;
  const count = keys.length / width;
  const weights = new Float32Array(heads * queries * count);
  const found = new Float32Array(x.length);
  const scale = 1 / (Math.sqrt(dHead) * (how.temperature ?? 1));
  for (let h = 0; h < heads; h++) {
    for (let q = 0; q < queries; q++) {
      const seen = causal ? Math.min(count, start + q + 1) : count;
      const scores = new Float64Array(seen);
      for (let k = 0; k < seen; k++) {
        let sum = 0;
        for (let i = 0; i < dHead; i++) {
          sum += query[q * width + h * dHead + i] * keys[k * width + h * dHead + i];
        }
        scores[k] = sum * scale;
      }
      const row = softmax(scores);
      weights.set(row, (h * queries + q) * count);
      if (how.off?.has(`${place}.${h}`)) continue;
      for (let k = 0; k < seen; k++) {
        for (let i = 0; i < dHead; i++) {
          found[q * width + h * dHead + i] += row[k] * values[k * width + h * dHead + i];
        }
      }
    }
  }
  return { output: linear(found, tensors, `${name}.output_proj`), weights };
}

function feedforward(x, tensors, name) {
  const inner = linear(x, tensors, `${name}.0`).map((value) => Math.max(0, value));
  return linear(inner, tensors, `${name}.3`);
}

/** Add the keys and values of new tokens to those of the tokens before. */
function extended(past, now) {
  return { keys: joined(past.keys, now.keys), values: joined(past.values, now.values) };
}

function layersOf(tensors, prefix) {
  const found = Object.keys(tensors).filter((name) => name.startsWith(`${prefix}.`));
  return 1 + Math.max(...found.map((name) => Number(name.split(".")[1])));
}

/** One pre-norm layer of self-attention and, where it has one, a feed-forward part. */
function layer(x, tensors, name, place, how, options) {
  const normed = norm(x, tensors, `${name}.attention_norm`);
  const memory = project(normed, tensors, `${name}.attention`, options);
  const read = attend(normed, memory, tensors, `${name}.attention`, place, how, options);
  x = add(x, read.output);
  if (tensors[`${name}.feedforward_norm.weight`]) {
    const inner = norm(x, tensors, `${name}.feedforward_norm`);
    x = add(x, feedforward(inner, tensors, `${name}.feedforward`));
  }
  return { x, weights: read.weights };
}

/** All such layers of a stack, and the weights of each. */
function stack(x, tensors, prefix, how, options) {
  const weights = [];
  for (let i = 0; i < layersOf(tensors, prefix); i++) {
    const name = `${prefix}.${i}`;
    const done = layer(x, tensors, name, name, how, options);
    x = done.x;
    weights.push(done.weights);
  }
  return { x, weights };
}

/** The encoder–decoder `TranslationTransformer` with rotary positions. */
class Translator {
  constructor(tensors, { heads = 4, bos = 1, eos = 2, pad = 0 } = {}) {
    this.tensors = tensors;
    this.width = tensors["output.weight"].shape[1];
    Object.assign(this, { heads, bos, eos, pad });
    this.decoderLayers = layersOf(tensors, "decoder");
  }

  /** Read the source; return the memory and the weights of each layer. */
  encode(ids, how = {}) {
    const { tensors, width, heads } = this;
    const words = embed(ids, tensors, "source_embedding");
    const { x, weights } = stack(words, tensors, "encoder", how, { width, heads, rotary: true });
    return { memory: norm(x, tensors, "encoder_norm"), weights };
  }

  /** Return what decoding needs before its first step. */
  start(ids, how = {}) {
    const { memory, weights } = this.encode(ids, how);
    const options = { width: this.width, heads: this.heads };
    const memories = [];
    const past = [];
    for (let i = 0; i < this.decoderLayers; i++) {
      const name = `decoder.${i}.cross_attention`;
      memories.push(project(memory, this.tensors, name, options));
      past.push({ keys: new Float32Array(0), values: new Float32Array(0) });
    }
    return { memories, past, weights };
  }

  /** Return logits after `token`, and each head's weights; `state` grows by a row. */
  step(token, state, how = {}) {
    const { tensors, width, heads } = this;
    const weights = { decoder: [], cross: [] };
    let x = embed([token], tensors, "target_embedding");
    for (let i = 0; i < this.decoderLayers; i++) {
      const name = `decoder.${i}`;
      const own = `${name}.self_attention`;
      const start = state.past[i].keys.length / width;
      const options = { width, heads, rotary: true, start };
      const normed = norm(x, tensors, `${name}.norms.0`);
      const now = project(normed, tensors, own, options);
      const past = extended(state.past[i], now);
      state.past[i] = past;
      const self = attend(normed, past, tensors, own, `decoder.${i}`, how, options);
      x = add(x, self.output);
      const asked = norm(x, tensors, `${name}.norms.1`);
      const cross = attend(
        asked, state.memories[i], tensors, `${name}.cross_attention`, `cross.${i}`,
        how, { width, heads },
      );
      x = add(x, cross.output);
      const inner = norm(x, tensors, `${name}.norms.2`);
      x = add(x, feedforward(inner, tensors, `${name}.feedforward`));
      weights.decoder.push(self.weights);
      weights.cross.push(cross.weights);
    }
    const logits = linear(norm(x, tensors, "decoder_norm"), tensors, "output");
    return { logits, weights };
  }

  /** Take the likeliest next word until the sentence ends. */
  translate(ids, how = {}, longest = 2 * ids.length + 10) {
    const state = this.start(ids, how);
    const steps = [];
    let token = this.bos;
    while (steps.length < longest && (token !== this.eos || !steps.length)) {
      const { logits, weights } = this.step(token, state, how);
      logits[this.pad] = -Infinity; // padding is no word
      token = logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));
      steps.push({ token, logits, weights });
    }
    return { steps, encoder: state.weights };
  }
}

function joined(first, second) {
  const out = new Float32Array(first.length + second.length);
  out.set(first);
  out.set(second, first.length);
  return out;
}

/** The decoder-only `Transformer` with rotary positions, causal and pre-norm. */
class LanguageModel {
  constructor(tensors, { heads }) {
    this.tensors = tensors;
    this.heads = heads;
    this.width = tensors["embedding.weight"].shape[1];
  }

  /** Return the logits of each next token, row by row, and each layer's weights. */
  run(ids, how = {}) {
    const { tensors, width, heads } = this;
    const options = { width, heads, rotary: true, causal: true };
    const { x, weights } = stack(embed(ids, tensors, "embedding"), tensors, "layers", how, options);
    const logits = linear(norm(x, tensors, "final_norm"), tensors, "output_proj");
    return { logits, weights };
  }
}
