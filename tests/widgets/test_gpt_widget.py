"""The GPT in the page computes what PyTorch computes, from the same 8 bits."""

import base64

import numpy as np
import pytest
import torch

from attncourse import recorded
from attncourse.data.bpe import BPETokenizer
from attncourse.widgets._models import engine_text, weights_file

TEXTS = [
    "It is a truth universally acknowledged, that",
    '"Oh!" cried Emma; "in 1811 £5  naïve 🙂',
    "\n\nCHAPTER 12\n x_y  \t",
]
ENGINE = engine_text("loading", "gpt_model")
RUN = """({coded, merges, heads, texts, off}) => {
  const {GPT, Tokenizer, readTensors, fromBase64} = window.engine;
  const tokenizer = new Tokenizer(merges);
  const gpt = new GPT(readTensors(fromBase64(coded)), {heads});
  return texts.map(text => {
    const ids = tokenizer.encode(text), cache = gpt.start();
    const steps = ids.map(id => gpt.step(id, cache, {off: new Set(off)}));
    return {ids, text: tokenizer.decode(ids), logits: steps.map(s => [...s.logits]),
            weights: steps.map(s => s.weights.map(w => [...w])),
            stream: steps.map(s => s.stream.map(x => [...x]))};
  });
}"""


@pytest.mark.parametrize("off", [[], ["blocks.0.1", "blocks.3.2"]])
def test_tokens_logits_weights_and_vectors_equal_those_of_pytorch(tab, off):
    page = tab(ENGINE, "GPT", "Tokenizer", "readTensors", "fromBase64")
    model, record = recorded.load_model("gpt")
    stream = []  # the embedding, then what each sub-layer makes of it
    for block in model.blocks:
        for part in [block.attention_norm, block.feedforward_norm]:
            part.register_forward_pre_hook(lambda _, given: stream.append(given[0]))
    model.final_norm.register_forward_pre_hook(lambda _, given: stream.append(given[0]))
    tokenizer = BPETokenizer(record["merges"])
    given = {
        "coded": base64.b64encode(weights_file("gpt")).decode(),
        "merges": record["merges"],
        "heads": model.num_heads,
        "texts": TEXTS,
        "off": off,
    }
    active = torch.ones(model.num_layers, model.num_heads, dtype=torch.bool)
    for name in off:
        _, layer, head = name.split(".")
        active[int(layer), int(head)] = False
    for text, found in zip(TEXTS, page.evaluate(RUN, given), strict=True):
        assert found["text"] == text
        assert found["ids"] == tokenizer.encode(text)
        stream.clear()
        with torch.no_grad():
            logits, weights = model(
                torch.tensor([found["ids"]]), active_heads=active, need_weights=True
            )
        assert np.abs(np.array(found["logits"]) - logits[0].numpy()).max() < 1e-3
        vectors = torch.cat(stream).transpose(0, 1).numpy()
        assert vectors.shape[1] == 1 + 2 * model.num_layers
        assert np.abs(np.array(found["stream"]) - vectors).max() < 1e-3
        for layer, head in np.argwhere(active.numpy()):
            for i, step in enumerate(found["weights"]):
                row = np.reshape(step[layer], (model.num_heads, i + 1))[head]
                theirs = weights[layer][0, head, i, : i + 1].numpy()
                assert np.abs(row - theirs).max() < 1e-4
