"""Small random models whose attention is sharp enough to tell mistakes apart."""

from __future__ import annotations

import torch

from attncourse.layers.multihead import MultiHeadAttention
from attncourse.models.transformer import Transformer
from attncourse.models.translation import TranslationTransformer

NO_TRANSFORMERS = (
    "This check needs the package transformers, which is not installed here. Install "
    "it with `%pip install transformers` and run the cell again. In Colab it is there "
    "already. The check says nothing about your answer."
)


def draw(generator, low, high):
    """Draw a whole number from `low` to `high`, both included."""
    return torch.randint(low, high + 1, (), generator=generator).item()


def draw_ids(generator, batch, length, *, lengths=None, highest=6):
    """Draw ids from 3 to `highest`, padded with 0 from `lengths` on."""
    ids = torch.randint(3, highest + 1, (batch, length), generator=generator)
    if lengths is not None:
        ids[torch.arange(length) >= torch.tensor(lengths)[:, None]] = 0
    return ids


def draw_weights(generator, heads, real):
    """Draw self-attention weights over `real` tokens; padding gets and gives none.

    Parameters
    ----------
    generator : torch.Generator
    heads : int
    real : torch.Tensor of bool
        ``(batch, tokens)``: True for tokens, False for padding.
    """
    batch, n = real.shape
    scores = 2 * torch.randn(batch, heads, n, n, generator=generator)
    scores = scores.masked_fill(~real[:, None, None], -torch.inf)
    return scores.softmax(-1) * real[:, None, :, None]


def fresh(make, seed):
    """Build a model from a seed and leave the random numbers of others alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def _sharpen(model):
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.query_proj.weight.data.mul_(6)
            module.value_proj.weight.data.mul_(3)
    return model


def translator(seed, layers, heads):
    """Return a small random encoder-decoder with dropout, in evaluation mode."""
    return fresh(
        lambda: _sharpen(
            TranslationTransformer(
                7, 7, 4 * heads, heads, layers, layers, 8, dropout=0.4
            )
        ).eval(),
        seed,
    )


def decoder_only(seed, layers, heads):
    """Return a small random causal Transformer, in evaluation mode."""
    return fresh(
        lambda: _sharpen(
            Transformer(
                5, 4 * heads, heads, layers, positions="rotary", feedforward_dim=8
            )
        ).eval(),
        seed,
    )


def hugging_face(name, seed, layers, heads, implementation=None):
    """Return a small random BERT or GPT-2, in evaluation mode.

    Parameters
    ----------
    name : {"bert", "gpt2"}
    seed, layers, heads : int
    implementation : str, optional
        Of the attention: "eager" makes weights. Unless given, the library chooses.

    Raises
    ------
    ModuleNotFoundError
        If transformers is not installed; the message says what to do.
    """
    try:
        import transformers
    except ImportError as error:
        raise ModuleNotFoundError(NO_TRANSFORMERS) from error
    options = {} if implementation is None else {"attn_implementation": implementation}
    if name == "bert":
        config = transformers.BertConfig(
            vocab_size=7,
            hidden_size=4 * heads,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=8,
            max_position_embeddings=12,
            hidden_dropout_prob=0.3,
            attention_probs_dropout_prob=0.4,
            initializer_range=0.6,
            **options,
        )
        build = lambda: transformers.BertModel(config, add_pooling_layer=False)  # noqa: E731
    else:
        config = transformers.GPT2Config(
            vocab_size=7,
            n_embd=4 * heads,
            n_layer=layers,
            n_head=heads,
            n_positions=12,
            attn_pdrop=0.4,
            resid_pdrop=0.3,
            initializer_range=0.6,
            bos_token_id=0,
            eos_token_id=0,
            **options,
        )
        build = lambda: transformers.GPT2Model(config)  # noqa: E731
    return fresh(lambda: build().eval(), seed)


@torch.no_grad()
def weights_by_hand(model, ids, mask):
    """Return the weights of a BERT or GPT-2 from its queries and keys.

    Each layer's queries and keys are computed from the hidden states that it reads, so
    that no implementation of attention has to hand its weights out.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        In evaluation mode.
    ids, mask : torch.Tensor
        ``(batch, tokens)``; 1 in `mask` for tokens, 0 for padding.

    Returns
    -------
    torch.Tensor
        ``(layers, batch, heads, tokens, tokens)``; rows of padding are zero.
    """
    hidden = model(ids, attention_mask=mask, output_hidden_states=True).hidden_states
    n = ids.shape[1]
    visible = mask.bool()[:, None, None]
    if hasattr(model, "h"):
        visible = visible & torch.ones(n, n, dtype=torch.bool).tril()
    found = []
    layers = model.h if hasattr(model, "h") else model.encoder.layer
    for layer, state in zip(layers, hidden, strict=False):  # the last feeds no layer
        if hasattr(model, "h"):
            both = layer.attn.c_attn(layer.ln_1(state)).chunk(3, dim=-1)[:2]
        else:
            own = layer.attention.self
            both = own.query(state), own.key(state)
        query, key = (
            part.unflatten(-1, (-1, 4)).transpose(1, 2) for part in both
        )  # every head of `hugging_face` is 4 wide
        scores = query @ key.transpose(-2, -1) / 2
        found.append(scores.masked_fill(~visible, -torch.inf).softmax(-1))
    return torch.stack(found) * mask[None, :, None, :, None]
