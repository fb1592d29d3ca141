"""What takes tensors works on a GPU, and gives there what it gives on a CPU.

The GPU is a pretended one, so that this holds on every machine; `tests.pretend_gpu`
says what it cannot show.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn

import attncourse.layers
import attncourse.models
from attncourse import best_device, seed_everything
from attncourse.data import Vocabulary, news_articles, qa_examples, translation_pairs
from attncourse.data.batching import translation_tensors
from attncourse.exercises.run import value_of
from attncourse.layers import blockwise, core, linear, local, multihead, relative
from attncourse.models import qa, recurrent, seq2seq, summary
from attncourse.models import transformer as lm
from attncourse.models import translation as nmt
from attncourse.training import (
    applications,
    memory,
    metrics,
    probing,
    reporting,
    timing,
    train,
    train_side_by_side,
)
from attncourse.training import translation as translating
from attncourse.viz import plot_attention, plot_heads, plot_mask
from tests import device_cases
from tests.device_cases import (
    CASES,
    built,
    causal,
    draw,
    leaves,
    sentences,
    tokens,
    translators,
    triple,
)
from tests.pretend_gpu import pretend_gpu


@pytest.mark.parametrize("name", CASES)
def test_the_gpu_gives_what_the_cpu_gives(name):
    expected = leaves(CASES[name](torch.device("cpu")))
    with pretend_gpu():
        found = leaves(CASES[name](torch.device("cuda")))
        assert all(x.is_cuda for x in found)
        found = [x.cpu() for x in found]
    assert len(found) == len(expected) > 0
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_every_layer_and_model_is_named_in_the_table():
    names = set(re.findall(r"\w+", Path(device_cases.__file__).read_text("utf-8")))
    for package in (attncourse.layers, attncourse.models):
        for found in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            for name, value in vars(module).items():
                own = getattr(value, "__module__", None) == module.__name__
                if own and callable(value) and not name.startswith("_"):
                    assert name in names, f"{name} has no case"


@pytest.fixture
def gpu():
    # oneDNN has no LSTM in bfloat16 on some processors; a GPU does not ask it
    torch._C._set_mkldnn_enabled(False)
    with pretend_gpu():
        yield torch.device("cuda")
    torch._C._set_mkldnn_enabled(True)


def test_the_gpu_is_chosen_where_there_is_one(gpu):
    assert best_device() == gpu


@pytest.mark.parametrize("name", ["mask", "bias", "value"])
def test_a_tensor_on_the_wrong_device_is_named(gpu, name):
    q, k, v = triple(gpu, 2, 5, 3)
    given = {"value": v, "mask": causal("cpu", 5), "bias": draw("cpu", 5, 5)}
    if name == "value":
        given = {"value": draw("cpu", 2, 5, 3)}
    given = {k: x for k, x in given.items() if k in (name, "value")}
    with pytest.raises(ValueError, match=f"{name} is on cpu where cuda:0 was expected"):
        core.scaled_dot_product_attention(q, k, **given)


def learn(model, loss_of, batch_of, **options):
    return train(model, batch_of, loss_of, steps=6, progress=False, **options)


def language_model(dropout=0.0):
    torch.manual_seed(0)
    return lm.Transformer(7, 12, 3, 2, dropout=dropout)


def next_token_loss(model, words):
    return nn.functional.cross_entropy(model(words)[:, :-1].mT, words[:, 1:])


def words_of(step):
    generator = torch.Generator().manual_seed(step)
    return (torch.randint(1, 7, (4, 9), generator=generator),)


def test_training_takes_the_gpu_and_ends_where_it_ends_on_a_cpu(gpu):
    on_cpu, on_gpu = language_model(), language_model()
    losses = learn(on_gpu, next_token_loss, words_of, validate=lambda model: 1.0)
    assert losses == pytest.approx(
        learn(on_cpu, next_token_loss, words_of, device="cpu"), rel=1e-4
    )
    assert {p.device.type for p in on_gpu.parameters()} == {"cuda"}
    assert {p.device.type for p in on_cpu.parameters()} == {"cpu"}


def test_on_a_gpu_runs_follow_one_another_and_may_have_dropout(gpu):
    how = {"batch_of": words_of, "loss_of": next_token_loss, "steps": 6}
    runs = [{"model": language_model(dropout=0.3), **how} for _ in range(2)]
    losses = train_side_by_side(runs, progress=False)
    alone = [learn(language_model(dropout=0.3), next_token_loss, words_of)]
    assert losses[0] == alone[0]  # the second draws what comes next
    models = [run["model"] for run in runs]
    assert {p.device.type for m in models for p in m.parameters()} == {"cuda"}


def translation_loss(model, source, target):
    return seq2seq.sequence_loss(model(source, target).float(), target)


def reading_loss(model, question, context, place):
    return qa.span_loss(*model(question, context), place, place)


def salience_loss(model, texts):
    return summary.salience_loss(model(texts), texts[..., 0] > 2)


def runs_in_mixed_precision():
    """Yield a model, its loss and a batch."""
    recurring = built("cpu", recurrent.RecurrentSeq2Seq, 7, 7, 6, attention="dot")
    for model in (*translators("cpu"), recurring):
        yield model, translation_loss, sentences("cpu")
    yield language_model(), next_token_loss, words_of(0)
    reading = tokens("cpu", 2, 5), tokens("cpu", 2, 11), torch.tensor([2, -1])
    yield built("cpu", qa.QATransformer, 7, 12, 3), reading_loss, reading
    judge = built("cpu", summary.SelfAttentionSummarizer, 7, 12, 3)
    yield judge, salience_loss, (tokens("cpu", 2, 5, 6),)


@pytest.mark.parametrize("index", range(7))
def test_models_train_in_mixed_precision(gpu, index):
    model, loss_of, batch = list(runs_in_mixed_precision())[index]

    def mixed(model, *batch):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return loss_of(model, *batch)

    losses = learn(model, mixed, lambda step: batch)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("weighted", [True, False])
def test_attention_works_in_mixed_precision(gpu, weighted):
    x, layer = draw(gpu, 2, 9, 12), built(gpu, multihead.MultiHeadAttention, 12, 3)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        output, weights = layer(x, x, x, causal(gpu, 9), need_weights=weighted)
        q = layer.query_proj(x)
        local.local_attention(q, q, q, window=3)
        blockwise.blockwise_attention(q, q, q, block_size=4)
        linear.linear_attention(q, q, q, causal=True)
    exact, _ = layer(x, x, x, causal(gpu, 9))
    torch.testing.assert_close(output.float(), exact, rtol=0.1, atol=0.02)
    assert weights is None or weights.dtype == torch.float32
    output.float().sum().backward()


def test_texts_are_translated_and_aligned_on_the_gpu(gpu):
    pairs = translation_pairs(9, "french", seed=0, min_len=4, max_len=9)
    words = [
        Vocabulary.build(getattr(p, s) for p in pairs) for s in ("source", "target")
    ]
    assert all(x.device.type == "cpu" for x in translation_tensors(pairs, *words))
    for make, options in (
        (seq2seq.AttentionSeq2Seq, {}),
        (nmt.TranslationTransformer, {}),
        (recurrent.RecurrentSeq2Seq, {"attention": "dot"}),
    ):
        results = []
        for device in ("cpu", gpu):
            model = built(device, make, *map(len, words), 12, **options)
            maps = translating.cross_attention_of(model, pairs, *words)
            written = translating.translate(model, [p.source for p in pairs], *words)
            if hasattr(model, "step"):
                written += translating.translate(
                    model, [pairs[0].source], *words, beam_size=3
                )
            results.append((written, maps))
        assert results[0][0] == results[1][0]
        for one, other in zip(results[0][1], results[1][1], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_questions_and_articles_are_answered_on_the_gpu(gpu):
    examples, articles = qa_examples(9, seed=3), news_articles(5, seed=0)
    words = Vocabulary.build([e.context + e.question for e in examples])
    found = [
        applications.answers(
            built(d, qa.QATransformer, len(words), 12, 3), examples, words
        )
        for d in ("cpu", gpu)
    ]
    assert found[0] == found[1]
    told = Vocabulary.build(s for a in articles for s in a.sentences)
    chosen = [
        built(d, summary.SelfAttentionSummarizer, len(told), 12, 3).summarize_text(
            list(articles[0].sentences), told
        )
        for d in ("cpu", gpu)
    ]
    assert chosen[0] == chosen[1]


def test_probes_take_tables_from_the_cpu(gpu):
    examples = qa_examples(9, seed=3)
    words = Vocabulary.build([e.context + e.question for e in examples])
    model = built(gpu, qa.QATransformer, len(words), 12, 3).eval()
    question, context, *_ = applications.reading_tensors(examples, words)
    question, context = question.to(gpu), context.to(gpu)
    places = probing.marks([[0]] * 9, context.shape[1])
    _, _, weights = model(question, context, need_weights=True)
    share = probing.weight_share(weights["layers"][0], places, places)
    assert share.is_cuda
    with probing.cut(model.layers[0], places):
        _, _, weights = model(question, context, need_weights=True)
    assert weights["layers"][0][..., 0].max() == 0


def test_measures_and_pictures_take_tensors_from_the_gpu(gpu, capsys):
    weights = core.masked_softmax(draw(gpu, 3, 5, 5), causal(gpu, 5))
    gold = [{(0, 0), (1, 1)}] * 3
    error = metrics.alignment_error_rate(list(weights), gold)
    assert error == metrics.alignment_error_rate(list(weights.detach().cpu()), gold)
    reporting.evidence("c", "ours", {"w": weights[:, 0, 0]}, claimed=(0, 1))
    assert capsys.readouterr().out.startswith("claim     c (ours)\nmeasured  w   1.00")
    for ax in (plot_attention(weights[0]), plot_heads(weights)[0]):
        image = np.asarray(ax.images[0].get_array())
        np.testing.assert_array_equal(image, weights[0].detach().cpu().numpy())
    plot_mask(causal(gpu, 5))
    plt.close("all")


def test_counts_are_those_of_the_cpu(gpu):
    counts, ways = [], []
    for device in ("cpu", gpu):
        x = draw(device, 2, 11, 5)
        counts.append(memory.count_elements(lambda: (x @ x.mT).softmax(-1).sum()))  # noqa: B023
        ways.append(timing.count_operations_between((x * 2).sum(), x))
    assert counts[0] == counts[1]
    assert ways[0] == ways[1]


def test_widgets_take_models_and_tables_from_the_gpu(gpu):
    pytest.importorskip("anywidget")
    from attncourse.widgets import Heads, Positions

    seen = []
    for device in ("cpu", gpu):
        model = built(device, lm.Transformer, 27, 12, 3, 2, positions="rotary")
        widget = Heads(model, tokens(device, 2, 11))
        seen.append((widget.scores, widget.baseline, widget.weights, widget.still()))
        bias = built(device, relative.T5RelativeBias, 3, 8, 10)
        learned = draw(device, 20, 6)
        seen[-1] += (Positions(learned=learned, t5_bias=bias).still(),)
    assert seen[0] == seen[1]


def test_seeds_reach_the_gpu(gpu):
    drawn = []
    for _ in range(2):
        seed_everything(5)
        drawn.append(torch.rand(3, device=gpu))
    assert torch.equal(*drawn)


def test_checks_see_answers_on_the_gpu_as_on_the_cpu(gpu):
    for value in (draw("cpu", 2, 3), draw("cpu", 2, 3) > 0, tokens("cpu", 4)):
        there, here = value_of(value.to(gpu)), value_of(value)
        assert (there.type, there.shape) == (here.type, here.shape)
        np.testing.assert_array_equal(there.data, here.data)
