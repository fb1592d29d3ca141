"""The models in the page compute what PyTorch computes."""

import base64
from copy import deepcopy

import numpy as np
import pytest
import torch

from attncourse import Transformer, recorded, seed_everything
from attncourse.data import translation_pairs
from attncourse.models.decoding import greedy_search
from attncourse.widgets._base import module_text
from attncourse.widgets._models import pack, weights_file

LANGUAGES = ("french", "german", "japanese")
TRANSLATE = """({coded, sentences, how}) => {
  const {Translator, readTensors, fromBase64} = window.engine;
  const model = new Translator(readTensors(fromBase64(coded)));
  const options = {off: new Set(how.off ?? []), temperature: how.temperature ?? 1};
  return sentences.map(ids => {
    const {steps, encoder} = model.translate(ids, options);
    return {
      tokens: steps.map(s => s.token),
      logits: steps.map(s => [...s.logits].map(x => Number.isFinite(x) ? x : null)),
      encoder: encoder.map(w => [...w]),
      cross: steps.map(s => [...s.weights.cross[0]]),
      own: steps.map(s => [...s.weights.decoder[0]]),
    };
  });
}"""


@pytest.fixture(scope="module")
def page(tab):
    names = "Translator", "LanguageModel", "readTensors", "fromBase64", "halves"
    return tab(module_text("transformer"), *names)


@pytest.fixture(scope="module", params=LANGUAGES)
def translator(request):
    model, record = recorded.load_model(f"translation_{request.param}")
    coded = base64.b64encode(weights_file(request.param)).decode()
    pairs = translation_pairs(10, request.param, seed=11, min_len=4, max_len=16)
    words = record["vocabularies"]["source"]
    return model, coded, [words.encode(pair.source, eos=True) for pair in pairs]


@torch.no_grad()
def by_torch(model, ids, tokens):
    source = torch.tensor([ids])
    logits, weights = model(source, torch.tensor([tokens]), need_weights=True)
    return logits[0].numpy(), weights


def assert_equal(model, sentences, results):
    for ids, found in zip(sentences, results, strict=True):
        tokens = found["tokens"]
        longest = 2 * len(ids) + 10
        greedy = greedy_search(model, torch.tensor([ids]), max_len=longest)
        assert tokens == greedy[0].tolist()
        logits, weights = by_torch(model, ids, tokens)
        ours = np.array(found["logits"], dtype=float)[:, 1:]  # without padding
        assert np.abs(ours - logits[:, 1:]).max() < 1e-4
        n = len(ids)
        for layer, flat in enumerate(found["encoder"]):
            theirs = weights["encoder"][layer][0].numpy()
            assert np.abs(np.reshape(flat, (4, n, n)) - theirs).max() < 1e-4
        for t, row in enumerate(found["cross"]):
            theirs = weights["cross"][0][0, :, t].numpy()
            assert np.abs(np.reshape(row, (4, n)) - theirs).max() < 1e-4
        for t, row in enumerate(found["own"]):
            theirs = weights["decoder"][0][0, :, t, : t + 1].numpy()
            assert np.abs(np.reshape(row, (4, t + 1)) - theirs).max() < 1e-4


def test_translations_equal_those_of_pytorch(page, translator):
    model, coded, sentences = translator
    given = {"coded": coded, "sentences": sentences, "how": {}}
    assert_equal(model, sentences, page.evaluate(TRANSLATE, given))


@pytest.mark.parametrize("translator", ["french"], indirect=True)
def test_heads_switched_off_write_nothing(page, translator):
    model, coded, sentences = translator
    off = ["encoder.0.1", "encoder.1.3", "decoder.0.0", "cross.0.2"]
    given = {"coded": coded, "sentences": sentences[:4], "how": {"off": off}}
    cut = deepcopy(model)
    parts = {
        "encoder.0": cut.encoder[0].attention,
        "encoder.1": cut.encoder[1].attention,
        "decoder.0": cut.decoder[0].self_attention,
        "cross.0": cut.decoder[0].cross_attention,
    }
    for name in off:
        place, head = name.rsplit(".", 1)
        part = parts[place]
        columns = slice(int(head) * part.d_head, (int(head) + 1) * part.d_head)
        part.output_proj.weight.data[:, columns] = 0
    results = page.evaluate(TRANSLATE, given)
    assert_equal(cut, sentences[:4], results)
    whole = page.evaluate(TRANSLATE, {**given, "how": {}})
    assert [r["tokens"] for r in whole] != [r["tokens"] for r in results]


@pytest.mark.parametrize("translator", ["french"], indirect=True)
@pytest.mark.parametrize("temperature", [0.3, 3.0])
def test_the_temperature_divides_all_scores(page, translator, temperature):
    model, coded, sentences = translator
    how = {"temperature": temperature}
    given = {"coded": coded, "sentences": sentences[:4], "how": how}
    warm = deepcopy(model)
    for name, parameter in warm.named_parameters():
        if "query_proj" in name:
            parameter.data /= temperature
    assert_equal(warm, sentences[:4], page.evaluate(TRANSLATE, given))


def test_the_language_model_equals_pytorch(page):
    seed_everything(3)
    model = Transformer(27, 20, 5, 3, positions="rotary", feedforward_dim=0).eval()
    model.load_state_dict({k: v.half().float() for k, v in model.state_dict().items()})
    tokens = torch.randint(1, 27, (1, 13), generator=torch.Generator().manual_seed(0))
    off = torch.ones(3, 5, dtype=torch.bool)
    off[1, 2] = off[2, 0] = False
    code = """({coded, ids, off}) => {
      const {LanguageModel, readTensors, fromBase64} = window.engine;
      const model = new LanguageModel(readTensors(fromBase64(coded)), {heads: 5});
      const {logits, weights} = model.run(ids, {off: new Set(off)});
      return {logits: [...logits], weights: weights.map(w => [...w])};
    }"""
    given = {"coded": pack(model), "ids": tokens[0].tolist()}
    for names, active in (([], None), (["layers.1.2", "layers.2.0"], off)):
        found = page.evaluate(code, {**given, "off": names})
        with torch.no_grad():
            logits, weights = model(tokens, need_weights=True, active_heads=active)
        ours = np.reshape(found["logits"], (13, 27))
        assert np.abs(ours - logits[0].numpy()).max() < 1e-4
        for layer, flat in enumerate(found["weights"]):
            theirs = weights[layer][0].numpy()
            difference = np.abs(np.reshape(flat, (5, 13, 13)) - theirs).max(axis=(1, 2))
            shown = [h for h in range(5) if f"layers.{layer}.{h}" not in names]
            assert difference[shown].max() < 1e-4


def test_half_precision_is_read_exactly(page):
    bits = np.arange(65536, dtype=np.uint16)
    values = bits.view(np.float16).astype(np.float32)
    finite = np.isfinite(values)
    code = "bits => [...window.engine.halves(Uint16Array.from(bits))]"
    assert page.evaluate(code, bits[finite].tolist()) == values[finite].tolist()
