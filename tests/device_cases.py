"""Calls of every layer and model on a device, for `tests.test_devices`.

Each takes a device, makes its inputs and its model from the same numbers on every
device, and returns what came out, gradients included.
"""

import torch
from torch import nn

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

CASES = {}
# No case names these: they take no tensors, are parts of what is called here, or load
# onto the CPU; FlexAttention needs a GPU.
NOT_HERE = """
AddedPositions PretrainedTransformer band_rule check_attention_inputs check_bias
check_boolean check_device check_even_width check_floating check_ids check_mask
check_same_tokens check_source choose flex_local_attention in_full in_our_names
interpolated_frequencies join_heads load_checkpoint load_pretrained ntk_frequencies
refuse_second_derivative run_layers sinusoidal_encoding split_heads suits_flex t5_edges
with_causal offset_score previous_token_score first_token_score duplicate_token_score
induction_score attention_entropy alibi_slopes rotary_frequencies SwiGLU GPTBlock
shift_right TransformerLayer DecoderLayer
"""


def case(function):
    """Add a function of a device to the table; it returns tensors on that device."""
    CASES[function.__name__] = function
    return function


def draw(device, *shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(device).requires_grad_()


def tokens(device, *shape, high=7, low=1):
    generator = torch.Generator().manual_seed(3)
    return torch.randint(low, high, shape, generator=generator).to(device)


def triple(device, *shape):
    return [draw(device, *shape, seed=seed) for seed in range(3)]


def built(device, make, *args, **options):
    """Build a model from the same numbers everywhere, and move it."""
    torch.manual_seed(0)
    return make(*args, **options).to(device)


def with_gradients(outputs, *sources):
    """Return the outputs and the gradients of their sum."""
    flat = [x for x in leaves(outputs) if x.requires_grad]
    total = sum(x[x.isfinite()].square().sum() for x in flat)
    sources = [
        p
        for source in sources
        for p in (source.parameters() if isinstance(source, nn.Module) else [source])
    ]
    grads = torch.autograd.grad(total, sources, allow_unused=True)
    return [*leaves(outputs), *(grad for grad in grads if grad is not None)]


def leaves(tree):
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [] if tree is None else [leaf for part in tree for leaf in leaves(part)]


def causal(device, n=11):
    return masks.create_causal_mask(n, device=device)


@case
def softmax_with_masks(device):
    x = draw(device, 2, 3, 5, 5)
    words = torch.tensor([[1, 2, 3, 0, 0], [0, 0, 0, 0, 0]], device=device)
    mask = masks.create_padding_mask(words) & causal(device, 5)
    return with_gradients([core.masked_softmax(x, mask), mask], x)


@case
def full_attention(device):
    q, k, v = triple(device, 2, 3, 11, 5)
    bias, mask = draw(device, 3, 11, 11, seed=4), causal(device)
    return with_gradients(
        [
            core.scaled_dot_product_attention(q, k, v, mask, bias=bias),
            core.fused_attention(q, k, v),
            core.fused_attention(q, k, v, mask, bias=bias),
            blockwise.blockwise_attention(q, k, v, mask, block_size=3),
        ],
        *(q, k, v, bias),
    )


@case
def attention_to_neighbours(device):
    q, k, v = triple(device, 2, 3, 17, 5)
    options = [{"window": 4, "causal": True}, {"window": 3}, {"window": 40}]
    ways = (local.local_attention, local.local_attention_in_blocks)
    return with_gradients(
        [way(q, k, v, **each) for way in ways for each in options], q, k, v
    )


@case
def attention_in_blocks(device):
    q, k, v = triple(device, 2, 17, 5)
    blocks = sparse.window_blocks(6, 1) | sparse.strided_blocks(6, 2)
    blocks = (blocks | sparse.global_blocks(6, 1)).to(device)
    output = sparse.block_sparse_attention(q, k, v, blocks, block_size=3, causal=True)
    return with_gradients(output, q, k, v)


@case
def expanded_blocks(device):
    return sparse.expand_blocks(sparse.window_blocks(3, 0).to(device), 4, 11, 11)


@case
def attention_without_softmax(device):
    q, k, v = triple(device, 2, 3, 70, 5)
    outputs = [linear.linear_attention(q, k, v, causal=c) for c in (False, True)]
    return with_gradients([*outputs, linear.elu_features(q)], q, k, v)


@case
def attention_with_heads(device):
    x = draw(device, 2, 11, 12)
    one = built(device, multihead.SelfAttention, 12)
    many = built(
        device, multihead.MultiHeadAttention, 12, 6, num_kv_heads=2, rotary=True
    )
    past = built(device, multihead.CausalSelfAttention, 12, 3, 13)
    short = built(device, latent.LatentAttention, 12, 3, 5, 4)
    outputs = [
        one(x, causal(device)),
        many(x, x, x, causal(device), need_weights=False),
        past(x, masks.create_padding_mask(tokens(device, 2, 11, low=0))),
        rotary.apply_rotary(x),
        rotary.apply_rotary(x, list(range(3, 14))),
        rotary.apply_rotary(x, frequencies=rotary.yarn_frequencies(12, 2, 8)),
        short.attend(x, short.project(x), causal(device), absorbed=True),
    ]
    return with_gradients(outputs, x, one, many, past, short)


@case
def absolute_positions(device):
    x = draw(device, 2, 5, 6)
    fixed = built(device, positions.SinusoidalPositionalEncoding, 6, 9)
    learned = built(device, positions.LearnedPositionalEncoding, 6, 9)
    return with_gradients([fixed(x, start=3), learned(x, start=3)], x, learned)


@case
def relative_positions(device):
    q, k, v = triple(device, 2, 3, 11, 4)
    distance = relative.relative_positions(11, 11, device=device)
    t5 = built(device, relative.T5RelativeBias, 3, 8, 10)
    learned = built(device, shaw.ShawAttention, 4, 3)
    bias = relative.alibi_bias(3, 11, 11).to(device) + t5(11, 11)
    outputs = [
        core.scaled_dot_product_attention(q, k, v, causal(device), bias=bias),
        learned(q, k, v, causal(device)),
        relative.t5_buckets(distance, 8, 10),
    ]
    return with_gradients(outputs, q, k, v, t5, learned)


@case
def attention_of_two_networks(device):
    encoder, decoder = draw(device, 2, 7, 5), draw(device, 2, 3, 5, seed=1)
    mask = masks.create_padding_mask(tokens(device, 2, 7))
    layers = [built(device, scores.AdditiveAttention, 5, 5, 4)] + [
        built(device, scores.MultiplicativeAttention, 5, 5, name)
        for name in scores.METHODS
    ]
    outputs = [layer(encoder, decoder, mask) for layer in layers]
    return with_gradients(outputs, encoder, decoder, *layers)


@case
def scores_of_heads(device):
    weights = core.masked_softmax(draw(device, 2, 3, 11, 11), causal(device))
    return head_scores.head_scores(weights, tokens(device, 2, 11))


@case
def language_models(device):
    words, outputs = tokens(device, 2, 11), []
    active = torch.tensor([[True, False, True]] * 2, device=device)
    for place in lm.POSITIONS:
        bias = None if place else relative.T5RelativeBias(3, 8, 10, False)
        model = built(
            device, lm.Transformer, 7, 12, 3, 2, positions=place, position_bias=bias
        )
        found = model(words, words[:, None, None] != 0, active_heads=active)
        weights = model(words, need_weights=True)
        outputs += with_gradients([found, weights], model)
    return outputs


def sentences(device):
    source = torch.tensor([[3, 4, 5, 6, 2], [5, 3, 2, 0, 0]], device=device)
    return source, source[:, :4].clone()


def translators(device):
    yield built(device, seq2seq.AttentionSeq2Seq, 7, 7, 12, 3, 2)
    for place in nmt.POSITIONS:
        yield built(
            device, nmt.TranslationTransformer, 7, 7, 12, 3, 1, 2, 16, positions=place
        )


@case
def translation(device):
    source, target = sentences(device)
    outputs = []
    for model in translators(device):
        logits, weights = model(source, target, need_weights=True)
        loss = seq2seq.sequence_loss(logits, target)
        outputs += with_gradients([loss, weights], model)
        outputs.append(decoding.greedy_search(model, source, max_len=9))
        outputs += decoding.beam_search(model, source, beam_size=3, max_len=9)
    return outputs


@case
def translation_without_and_with_attention(device):
    source, target = sentences(device)
    outputs = []
    for kind in recurrent.ATTENTION:
        model = built(device, recurrent.RecurrentSeq2Seq, 7, 7, 5, attention=kind)
        logits = model(source, target)
        outputs += with_gradients(seq2seq.sequence_loss(logits, target), model)
        outputs.append(model.greedy_decode(source, 8, end_idx=2))
    return outputs


@case
def question_answering(device):
    question, context = tokens(device, 2, 5), tokens(device, 2, 11)
    outputs = []
    for attention in (True, False):
        model = built(device, qa.QATransformer, 7, 12, 3, attention=attention)
        start, end, weights = model(question, context, need_weights=True)
        first = torch.tensor([2, -1], device=device)
        loss = qa.span_loss(start, end, first, first)
        outputs += with_gradients([loss, weights], model)
        answers = model.predict_answer(question, context)
        outputs.append(torch.tensor([a or (-1, -1) for a in answers], device=device))
        outputs += qa.best_spans(start, end, 3)
    return outputs


@case
def summaries(device):
    texts = tokens(device, 2, 5, 6, low=0)
    texts[1, 3:] = 0
    model = built(device, summary.SelfAttentionSummarizer, 7, 12, 3)
    found, weights = model(texts, need_weights=True)
    loss = summary.salience_loss(found, texts[:, :, 0] > 2)
    chosen = model.generate_summary(texts, num_sentences=2)
    return [
        *with_gradients([loss, weights], model),
        torch.tensor(chosen, device=device),
    ]


@case
def language_model_of_today(device):
    model = built(device, gpt.GPT, 7, 12, 3, 2, context=9, num_kv_heads=1)
    words = tokens(device, 2, 5)
    logits = model(words)
    chances = generating.next_token_probabilities(logits[:, -1], top_k=3)
    written = generating.generate(model, [[1, 2], [3]], 3, temperature=0)
    written = torch.tensor(written, device=device)
    return [*with_gradients([logits], model), chances, written]


@case
def images(device):
    model = built(device, vision.VisionTransformer, 4, 3, 5, 12, 3, 1)
    pixels = draw(device, 2, 6, 6)
    part = built(device, feedforward.FeedForward, 9, 7)(vision.to_patches(pixels, 3))
    return [*with_gradients([model(pixels)], model), part]
