"""Heads of a small language model: their scores, a switch for each, and two at work."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from attncourse.widgets._base import CourseWidget, style_text
from attncourse.widgets._drawing import weights_picture
from attncourse.widgets._models import engine_text, pack

if TYPE_CHECKING:
    from torch import Tensor

    from attncourse.models.transformer import Transformer

SCORES = ("previous", "duplicate", "induction", "first", "own")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Heads(CourseWidget):
    """Show where each head of a `Transformer` looks, and what it is needed for.

    The model runs in the page. Each token is written as one symbol.

    Parameters
    ----------
    model : Transformer
        Causal and pre-norm, with rotary positions, or built alike.
    tokens : torch.Tensor
        Integers, ``(batch, tokens)``: the sequences that the heads are scored on.
    signs : str, optional
        Symbol i − 1 stands for token i; the letters A to Z unless given.
    examples : sequence of str, optional
        Sequences to choose from.
    **traits
        `text`, the sequence that is shown; `off`, the heads that are ablated, such
        as "layers.0.2" (layer, head); `head`, the one that is shown large.

    Raises
    ------
    ValueError
        If the model is built in a way that the page does not compute.
    """

    _esm = engine_text("tiles", "heads")
    _css = style_text("tiles", "heads")
    _repeats = 1  # of the text
    _examples = ("KMTBXEKMTBXE", "BANANABANANA", "ATTENTIONATTENTION", "QWERTZUIOPAS")

    text = traitlets.Unicode().tag(sync=True)
    off = traitlets.List(traitlets.Unicode()).tag(sync=True)
    head = traitlets.Unicode("").tag(sync=True)
    signs = traitlets.Unicode(LETTERS).tag(sync=True)
    examples = traitlets.List().tag(sync=True)
    scores = traitlets.List().tag(sync=True)
    baseline = traitlets.Dict().tag(sync=True)
    heads = traitlets.Int().tag(sync=True)
    weights = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        model: "Transformer",
        tokens: "Tensor",
        signs: str = LETTERS,
        examples: Sequence[str] | None = None,
        **traits: object,
    ) -> None:
        _check(model)
        examples = examples or self._examples
        scores, baseline = head_table(model, tokens)
        clearest = max(
            range(model.num_heads), key=lambda head: scores[-1]["induction"][head]
        )
        self._model = model
        settings = {
            "head": f"layers.{model.num_layers - 1}.{clearest}",
            "text": examples[0],
            **traits,
        }
        super().__init__(
            signs=signs,
            examples=list(examples),
            scores=scores,
            baseline=baseline,
            heads=model.num_heads,
            weights=pack(model),
            **settings,
        )

    def still(self) -> str:
        """Return the weights of the chosen head as a heat map."""
        import torch

        text = self._repeats * self.text
        ids = [1 + self.signs.index(sign) for sign in text if sign in self.signs]
        device = self._model.embedding.weight.device
        with torch.no_grad():
            _, weights = self._model(
                torch.tensor([ids], device=device), need_weights=True
            )
        _, layer, head = self.head.split(".")
        rows = weights[int(layer)][0, int(head)].tolist()
        title = f"Where head {head} of layer {layer} looks in “{text}”."
        return weights_picture(rows, text, text, title)


class InductionHead(Heads):
    """Follow one prediction through a previous-token head and an induction head.

    The text is read twice. The induction head is the one with the highest score in the
    last layer, the previous-token head the one in the first.

    Parameters
    ----------
    model, tokens, signs, examples
        As for `Heads`; the model has two layers.
    **traits
        `text`, what is repeated; `position`, the last that the model has read, counted
        from 0.
    """

    _esm = engine_text("tiles", "induction")
    _repeats = 2
    _examples = ("KMTBXE", "BANANA", "ATTENTION")

    position = traitlets.Int(8, min=0).tag(sync=True)


def head_table(
    model: "Transformer", tokens: "Tensor"
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Score every head of a model, and one that looks everywhere alike.

    The scores are a list with a dict for each layer: by the names of `head_scores`,
    lists with one number for a head. The second result is a dict of numbers.
    """
    import torch

    from attncourse.layers.head_scores import head_scores
    from attncourse.layers.masks import create_causal_mask

    tokens = tokens.to(model.embedding.weight.device)
    with torch.no_grad():
        _, maps = model(tokens, need_weights=True)
    n = tokens.shape[1]
    alike = create_causal_mask(n).float()
    alike = (alike / alike.sum(-1, keepdim=True)).expand(len(tokens), 1, n, n)
    even = head_scores(alike, tokens.cpu())
    scores = []
    for weights in maps:
        found = head_scores(weights, tokens)
        scores.append(
            {k: [round(x, 4) for x in found[k].tolist()] for k in (*SCORES, "entropy")}
        )
    return scores, {k: round(even[k].item(), 4) for k in (*SCORES, "entropy")}


def _check(model):
    unlike = None
    if not model.layers[0].attention.rotary:
        unlike = "its positions are not rotary"
    elif not model.causal:
        unlike = "it is not causal"
    elif not model.layers[0].norm_first:
        unlike = "its norms come last"
    elif model.position_bias is not None:
        unlike = "it has a position bias"
    if unlike:
        raise ValueError(
            f"the page cannot run this model: {unlike}. Make it with "
            "Transformer(..., positions='rotary')."
        )
