"""What takes tensors works on a GPU: nothing is left on the CPU beside it.

The GPU is a pretended one: `tests.pretend_gpu` says what it cannot show.
"""

import importlib
import pkgutil
import re
from pathlib import Path
from unittest.mock import patch

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn

import attncourse.layers
import attncourse.models
from attncourse import best_device
from attncourse.data import Vocabulary, news_articles, qa_examples, translation_pairs
from attncourse.exercises.run import value_of
from attncourse.layers import (
    blockwise,
    core,
    head_scores,
    latent,
    linear,
    local,
    masks,
    multihead,
    positions,
    relative,
    rotary,
    scores,
    shaw,
    sparse,
)
from attncourse.models import (
    decoding,
    feedforward,
    generating,
    gpt,
    qa,
    recurrent,
    seq2seq,
    summary,
    vision,
)
from attncourse.models import transformer as lm
from attncourse.models import translation as nmt
from attncourse.training import (
    applications,
    metrics,
    probing,
    reporting,
    train,
    train_side_by_side,
)
from attncourse.training import translation as translating
from attncourse.viz import plot_attention, plot_heads, plot_mask
from tests.pretend_gpu import pretend_gpu

# No case names these: they take no tensors, are parts of what is called here, or load
# onto the CPU.
NOT_HERE = """
AddedPositions PretrainedTransformer check_attention_inputs check_bias
check_boolean check_device check_even_width check_floating check_ids check_mask
check_same_tokens check_source choose in_full in_our_names
interpolated_frequencies join_heads load_checkpoint load_pretrained ntk_frequencies
refuse_second_derivative run_layers sinusoidal_encoding split_heads t5_edges
full_mask offset_score previous_token_score first_token_score duplicate_token_score
induction_score attention_entropy alibi_slopes rotary_frequencies SwiGLU GPTBlock
shift_right TransformerLayer DecoderLayer
"""


def built(make, *args, **options):
    """Make a model that lies on the GPU."""
    torch.manual_seed(0)
    with torch._C.DisableTorchFunction():
        return make(*args, **options)


def leaves(tree):
    """Return the tensors in nested lists, tuples and dicts."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if not isinstance(tree, list | tuple):
        return [tree] if isinstance(tree, torch.Tensor) else []
    return [leaf for part in tree for leaf in leaves(part)]


RNG = torch.Generator().manual_seed(0)
Q, K, V = (torch.randn(2, 3, 17, 4, generator=RNG, requires_grad=True) for _ in "qkv")
X = torch.randn(2, 11, 12, generator=RNG, requires_grad=True)
BIAS = torch.randn(3, 17, 17, generator=RNG)
WORDS = torch.randint(1, 7, (2, 11), generator=RNG)
PRESENT = masks.create_padding_mask(WORDS)
PADDED = torch.tensor([[3, 4, 5, 6, 2], [5, 3, 2, 0, 0]])
TEXTS = torch.randint(1, 7, (2, 5, 6), generator=RNG)
PLACE = torch.tensor([2, -1])
CAUSAL, CAUSAL_X = masks.create_causal_mask(17), masks.create_causal_mask(11)
BLOCKS = sparse.window_blocks(6, 1) | sparse.strided_blocks(6, 2)
BLOCKS |= sparse.global_blocks(6, 1)
T5 = relative.T5RelativeBias(3, 8, 10)


CASES = {
    "masks": lambda: core.masked_softmax(
        BIAS[:2, None, :5, :5], masks.create_padding_mask(PADDED) & CAUSAL[:5, :5]
    ),
    "attention": lambda: core.scaled_dot_product_attention(Q, K, V, CAUSAL, bias=BIAS),
    "fused": lambda: core.fused_attention(Q, K, V, CAUSAL, bias=BIAS),
    "blockwise": lambda: blockwise.blockwise_attention(Q, K, V, CAUSAL, block_size=3),
    "local": lambda: [
        attend(Q, K, V, window=window, causal=window == 4)
        for attend in (local.local_attention, local.local_attention_in_blocks)
        for window in (3, 4, 40)
    ],
    "block-sparse": lambda: sparse.block_sparse_attention(
        Q, K, V, BLOCKS, block_size=3, causal=True
    ),
    "blocks": lambda: sparse.expand_blocks(BLOCKS, 4, 21, 21),
    "linear": lambda: [
        linear.linear_attention(Q, K, V, causal=causal) for causal in (False, True)
    ],
    "features": lambda: linear.elu_features(Q),
    "rotary": lambda: [
        rotary.apply_rotary(X),
        rotary.apply_rotary(X, list(range(3, 14))),
        rotary.apply_rotary(X, frequencies=rotary.yarn_frequencies(12, 2, 8)),
    ],
    "relative": lambda: relative.t5_buckets(
        relative.relative_positions(11, 11, device=Q.device), 8, 10
    ),
    "biases": lambda: T5(17, 17) + relative.alibi_bias(3, 17, 17).to(Q),
    "scores of heads": lambda: head_scores.head_scores(
        core.masked_softmax(BIAS[:2, None, :11, :11], CAUSAL_X), WORDS
    ),
    "patches": lambda: vision.to_patches(X, 1),
    "positions": lambda: [
        built(positions.SinusoidalPositionalEncoding, 12, 20)(X, start=3),
        built(positions.LearnedPositionalEncoding, 12, 20)(X, start=3),
    ],
    "Shaw": lambda: built(shaw.ShawAttention, 4, 3)(Q, K, V, CAUSAL),
    "heads": lambda: [
        built(multihead.SelfAttention, 12)(X, CAUSAL_X),
        built(multihead.MultiHeadAttention, 12, 6, num_kv_heads=2, rotary=True)(
            X, X, X, CAUSAL_X, need_weights=False
        ),
        built(multihead.CausalSelfAttention, 12, 3, 13)(X, PRESENT),
    ],
    "additive": lambda: built(scores.AdditiveAttention, 12, 12, 4)(X, X[:, :3]),
    "multiplicative": lambda: [
        built(scores.MultiplicativeAttention, 12, 12, method)(X, X[:, :3], PRESENT)
        for method in scores.METHODS
    ],
    "feed-forward": lambda: built(feedforward.FeedForward, 12, 7)(X),
    "images": lambda: built(vision.VisionTransformer, 4, 3, 5, 12, 3, 1)(X[:, :6, :6]),
}


def case(function):
    """Add a function to the table."""
    CASES[function.__name__] = function
    return function


@case
def latent_attention():
    model = built(latent.LatentAttention, 12, 3, 5, 4)
    return model.attend(X, model.project(X), CAUSAL_X, absorbed=True)


@case
def language_models():
    active = torch.tensor([[True, False, True]] * 2, device=WORDS.device)
    for place in lm.POSITIONS:
        bias = None if place else built(relative.T5RelativeBias, 3, 8, 10, False)
        model = built(lm.Transformer, 7, 12, 3, 2, positions=place, position_bias=bias)
        yield model(WORDS, WORDS[:, None, None] != 0, active_heads=active)
        yield model(WORDS, need_weights=True)


def translators():
    yield built(seq2seq.AttentionSeq2Seq, 7, 7, 12, 3, 2)
    for place in nmt.POSITIONS:
        yield built(nmt.TranslationTransformer, 7, 7, 12, 3, 1, 2, 16, positions=place)


@case
def translation():
    for model in translators():
        logits, weights = model(PADDED, PADDED[:, :4], need_weights=True)
        yield seq2seq.sequence_loss(logits, PADDED[:, :4]), weights
        yield decoding.greedy_search(model, PADDED, max_len=9)
        yield decoding.beam_search(model, PADDED, beam_size=3, max_len=9)


@case
def translation_without_and_with_attention():
    for kind in recurrent.ATTENTION:
        model = built(recurrent.RecurrentSeq2Seq, 7, 7, 5, attention=kind)
        yield seq2seq.sequence_loss(model(PADDED, PADDED), PADDED)
        yield model.greedy_decode(PADDED, 8)


@case
def question_answering():
    for attention in (True, False):
        model = built(qa.QATransformer, 7, 12, 3, attention=attention)
        start, end, weights = model(WORDS[:, :5], WORDS, need_weights=True)
        yield qa.span_loss(start, end, PLACE, PLACE), weights
        assert len(model.predict_answer(WORDS[:, :5], WORDS)) == 2
        yield qa.best_spans(start, end, 3)


@case
def summaries():
    model = built(summary.SelfAttentionSummarizer, 7, 12, 3)
    found, weights = model(TEXTS, need_weights=True)
    assert len(model.generate_summary(TEXTS, num_sentences=2)) == 2
    return summary.salience_loss(found, TEXTS[:, :, 0] > 2), weights


@case
def language_model_of_today():
    model = built(gpt.GPT, 7, 12, 3, 2, context=9, num_kv_heads=1)
    logits = model(WORDS[:, :5])
    assert generating.generate(model, [[1, 2], [3]], 3, temperature=1)
    return generating.next_token_probabilities(logits[:, -1], top_k=3), logits


@pytest.fixture
def gpu():
    with pretend_gpu() as device:
        yield device


def lie_there(outputs):
    """Return whether tensors lie on the GPU, and run backward through them."""
    found = leaves(outputs)
    sums = [x[x.isfinite()].square().sum() for x in found if x.requires_grad]
    if sums:
        torch.stack(sums).sum().backward()
    return bool(found) and all(x.is_cuda for x in found)


@pytest.mark.parametrize("name", CASES)
def test_what_gets_tensors_on_the_gpu_gives_such(gpu, name):
    outputs = CASES[name]()
    if not isinstance(outputs, list | tuple | dict | torch.Tensor):
        outputs = list(outputs)
    assert lie_there(outputs)


def test_every_layer_and_model_is_named_in_the_table():
    names = set(re.findall(r"\w+", Path(__file__).read_text("utf-8")))
    for package in (attncourse.layers, attncourse.models):
        for found in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            for name, value in vars(module).items():
                own = getattr(value, "__module__", None) == module.__name__
                if own and callable(value) and not name.startswith("_"):
                    assert name in names, f"{name} has no case"


PLANTED = {
    "forward": lambda: X + torch.ones(11, 12),
    "mask": lambda: core.scaled_dot_product_attention(
        Q, K, V, masks.create_causal_mask(17)
    ),
    "list": lambda: nn.functional.embedding(torch.tensor([0]), X[0]),
    "stack": lambda: torch.stack([X[0, 0, 0], torch.tensor(0.0)]),
    "changed": lambda: torch.zeros(11, 12).add_(X[0]),
    "index": lambda: torch.zeros(7)[WORDS],
    "generator": lambda: torch.rand(2, device=X.device, generator=torch.Generator()),
    "NumPy": lambda: np.asarray(WORDS),
    "state": lambda: built(nn.GRU, 12, 3)(X, torch.zeros(1, 11, 3)),
    "lengths": lambda: nn.utils.rnn.pack_padded_sequence(X, WORDS[0, :2]),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(gpu, name):
    with pytest.raises((RuntimeError, TypeError, ValueError), match=r"device|cuda|CPU"):
        PLANTED[name]()


def test_a_planted_fault_in_a_backward_pass_is_found(gpu):
    class Careless(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return grad * torch.ones(12)

    with pytest.raises(RuntimeError, match="same device"):
        lie_there(Careless.apply(X))


def test_a_result_that_is_left_on_the_cpu_is_found(gpu):
    assert not lie_there([X, torch.zeros(2)])
    assert not lie_there(X.cpu())
    allowed = [X + torch.tensor(2.0), X[torch.tensor([0])], torch.zeros(2).to(X)]
    assert lie_there(allowed)


def test_the_gpu_is_chosen_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert best_device() == torch.device("cuda")


def language_model():
    return built(lm.Transformer, 7, 12, 3, 2)


def next_token_loss(model, words):
    return nn.functional.cross_entropy(model(words)[:, :-1].mT, words[:, 1:])


def words_of(step):
    generator = torch.Generator().manual_seed(step)
    return (torch.randint(1, 7, (4, 9), generator=generator),)


def test_training_moves_what_it_is_given(gpu):
    how = {"batch_of": words_of, "loss_of": next_token_loss, "steps": 6}
    how |= {"device": gpu, "validate": lambda model: 1.0}
    runs = [{"model": language_model(), **how} for _ in range(2)]
    model, losses = language_model(), train_side_by_side(runs, progress=False)
    with patch.object(model, "to", wraps=model.to) as moved:
        assert losses[0] == losses[1] == train(model, progress=False, **how)
    moved.assert_called_once_with(gpu)


def translation_loss(model, source, target):
    return seq2seq.sequence_loss(model(source, target).float(), target)


def reading_loss(model, question, context, place):
    return qa.span_loss(*model(question, context), place, place)


def salience_loss(model, texts):
    return summary.salience_loss(model(texts), texts[..., 0] > 2)


def runs_in_mixed_precision():
    """Yield models, their losses and batches."""
    recurring = built(recurrent.RecurrentSeq2Seq, 7, 7, 6, attention="dot")
    for model in (*translators(), recurring):
        yield model, translation_loss, (PADDED, PADDED[:, :4])
    yield language_model(), next_token_loss, words_of(0)
    yield built(qa.QATransformer, 7, 12, 3), reading_loss, (WORDS[:, :5], WORDS, PLACE)
    yield built(summary.SelfAttentionSummarizer, 7, 12, 3), salience_loss, (TEXTS,)


@pytest.mark.parametrize("index", range(7))
def test_models_train_in_mixed_precision(index):
    model, loss_of, batch = list(runs_in_mixed_precision())[index]

    def mixed(model, *batch):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return loss_of(model, *batch)

    how = {"steps": 6, "progress": False, "device": "cpu"}
    losses = train(model, lambda step: batch, mixed, **how)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("weighted", [True, False])
def test_attention_works_in_mixed_precision(weighted):
    layer = built(multihead.MultiHeadAttention, 12, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, weights = layer(X, X, X, CAUSAL_X, need_weights=weighted)
        q = layer.query_proj(X)
        local.local_attention_in_blocks(q, q, q, window=3)
        blockwise.blockwise_attention(q, q, q, block_size=4)
        linear.linear_attention(q, q, q, causal=True)
    exact, _ = layer(X, X, X, CAUSAL_X)
    torch.testing.assert_close(output.float(), exact, rtol=0.1, atol=0.02)
    assert weights is None or weights.dtype == torch.bfloat16
    output.float().sum().backward()


PAIRS = translation_pairs(9, "french", seed=0, min_len=4, max_len=9)
EXAMPLES = qa_examples(9, seed=3)
READ = Vocabulary.build([e.context + e.question for e in EXAMPLES])


def test_texts_are_translated_and_aligned_on_the_gpu(gpu):
    words = [
        Vocabulary.build(getattr(p, s) for p in PAIRS) for s in ("source", "target")
    ]
    texts = [p.source for p in PAIRS]
    for make in (seq2seq.AttentionSeq2Seq, nmt.TranslationTransformer):
        model = built(make, *map(len, words), 12)
        maps = translating.cross_attention_of(model, PAIRS, *words)
        assert len(maps) == len(translating.translate(model, texts, *words)) == 9
        assert translating.translate(model, texts[:1], *words, beam_size=3)


def test_questions_and_articles_are_answered_on_the_gpu(gpu):
    model = built(qa.QATransformer, len(READ), 12, 3)
    assert len(applications.answers(model, EXAMPLES, READ)) == 9
    sentences = list(news_articles(1, seed=0)[0].sentences)
    told = Vocabulary.build(sentences)
    judge = built(summary.SelfAttentionSummarizer, len(told), 12, 3)
    assert judge.summarize_text(sentences, told)


def test_probes_take_tables_from_the_cpu(gpu):
    model = built(qa.QATransformer, len(READ), 12, 3).eval()
    tensors = applications.reading_tensors(EXAMPLES, READ)
    question, context = (x.to(gpu) for x in tensors[:2])
    places = probing.marks([[0]] * 9, context.shape[1])
    _, _, weights = model(question, context, need_weights=True)
    assert probing.weight_share(weights["layers"][0], places, places).is_cuda
    with probing.cut(model.layers[0], places):
        _, _, weights = model(question, context, need_weights=True)
    assert weights["layers"][0][..., 0].max() == 0


def test_measures_and_pictures_take_tensors_from_the_gpu(gpu, capsys):
    weights = core.masked_softmax(BIAS[:, :5, :5], CAUSAL[:5, :5])
    assert 0 < metrics.alignment_error_rate(list(weights), [{(0, 0), (1, 1)}] * 3) < 1
    reporting.evidence("c", "ours", {"w": weights[:, 0, 0]}, claimed=(0, 1))
    assert capsys.readouterr().out.startswith("claim     c (ours)\nmeasured  w   1.00")
    for ax in (plot_attention(weights[0]), plot_heads(weights)[0]):
        image = np.asarray(ax.images[0].get_array())
        np.testing.assert_array_equal(image, weights[0].cpu().numpy())
    plot_mask(CAUSAL)
    plt.close("all")


def test_widgets_take_models_and_tables_from_the_gpu(gpu):
    pytest.importorskip("anywidget")
    from attncourse.widgets import Heads, Positions

    model = built(lm.Transformer, 27, 12, 3, 2, positions="rotary")
    assert Heads(model, WORDS).still()
    assert Positions(learned=X[0], t5_bias=T5).still()


def test_checks_take_answers_from_the_gpu(gpu):
    for value in (X, X > 0, WORDS):
        np.testing.assert_array_equal(value_of(value).data, value.detach().cpu())
