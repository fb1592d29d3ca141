"""Small models with drawn parameters, and what a picture of weights shows."""

import re

import numpy as np
import torch

from attncourse.exercises.drawing import numbers
from attncourse.models.transformer import Transformer
from attncourse.models.translation import TranslationTransformer

NO_TRANSFORMERS = (
    "this check needs the package transformers, which is not installed here. Install "
    "it with `%pip install transformers` and run the cell again."
)


def _filled(model, seed):
    """Give a model parameters that are the same on every machine."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(numbers(generator, *parameter.shape, most=0.8))
    return model.eval()


def small_translator(seed, layers, heads, dropout=0.0):
    """Return an encoder-decoder for ids below 7, in evaluation mode."""
    sizes = 7, 7, 4 * heads, heads, layers, layers, 8
    return _filled(TranslationTransformer(*sizes, dropout=dropout), seed)


def small_transformer(seed, layers, heads):
    """Return a causal Transformer for ids below 7, in evaluation mode."""
    options = {"feedforward_dim": 8, "positions": "rotary"}
    return _filled(Transformer(7, 4 * heads, heads, layers, **options), seed)


def small_hugging_face(name, seed, layers, heads, dropout=0.0):
    """Return a "bert", whose dropout can be set, or a "gpt2" for ids below 7.

    It is in evaluation mode. Raises ModuleNotFoundError, which says what to do, without
    transformers.
    """
    try:
        from transformers import AutoConfig, AutoModel
    except ImportError as error:
        raise ModuleNotFoundError(NO_TRANSFORMERS) from error
    config = AutoConfig.for_model(
        name,
        vocab_size=7,
        hidden_size=4 * heads,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=8,
        max_position_embeddings=12,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        bos_token_id=0,
        eos_token_id=0,
    )
    return _filled(AutoModel.from_config(config), seed)


def shown(axes):
    """Return what axes show, read from the top left: "data" is the matrix.

    "colours" is where each element stands on the scale, from 0 to 1, "rows" and
    "columns" are labels, and "number in the title" that after "head", the first, or -1.
    Raises ValueError without a picture by imshow.
    """
    if not axes.images:
        raise ValueError("no picture in the axes; imshow makes one")
    picture = axes.images[0]
    data = np.asarray(picture.get_array(), dtype=float)
    rows, columns = map(np.arange, data.shape)
    rows = rows if axes.yaxis.get_inverted() else rows[::-1]
    columns = columns[::-1] if axes.xaxis.get_inverted() else columns
    data = data[rows][:, columns]
    title = " ".join(axes.get_title(at) for at in ("left", "center", "right"))
    number = re.search(r"head\D{0,9}(\d+)", title, re.IGNORECASE)
    number = number or re.search(r"(\d+)", title)
    return {
        "data": torch.tensor(data),
        "colours": torch.tensor(np.ma.filled(picture.norm(data), np.nan)),
        "rows": _labels(axes.get_shared_y_axes(), axes, "yaxis", rows),
        "columns": _labels(axes.get_shared_x_axes(), axes, "xaxis", columns),
        "number in the title": int(number[1]) if number else -1,
    }


def _labels(shared, axes, name, places):
    """Return the labels of an axis, which others that share it may show."""
    found = {}
    axes.figure.draw_without_rendering()  # which a formatter waits for
    for each in shared.get_siblings(axes):
        for tick in getattr(each, name).get_major_ticks():
            text = tick.label1.get_text() or tick.label2.get_text()
            found |= {round(tick.get_loc(), 2): text} if text else {}
    return " ".join(found.get(place, "-") for place in places)
