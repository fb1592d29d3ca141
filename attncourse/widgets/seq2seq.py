"""Sequence to sequence, step by step: what one decoder step is made of, and beams."""

from functools import cache
from typing import Any

import traitlets

from attncourse import recorded
from attncourse.data.translation import parallel_corpus
from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import weights_picture
from attncourse.widgets._models import as_parts

SEED, CHOSEN = 41, (128, 33, 51, 69)
SHOWN = 20  # numbers of a vector that are drawn
BEAMS = (2, 3, 4)


class StepByStep(CourseWidget):
    """Follow the recurrent translator through a sentence, one word at a time.

    Parameters
    ----------
    sentence : int, default 0
        Which of the sentences. Each has a combination of words that occurs in no
        training sentence.
    step : int, default 0
        The word that is being written, counted from 0.
    **traits
        `head`, of the cross-attention; `beam`, the number of hypotheses that beam
        search keeps: 2, 3 or 4.
    """

    _esm = module_text("seq2seq")
    _css = style_text("tiles", "seq2seq")

    sentence = traitlets.Int(0, min=0, max=len(CHOSEN) - 1).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    head = traitlets.Int(0, min=0, max=3).tag(sync=True)
    beam = traitlets.Enum(BEAMS, 3).tag(sync=True)
    cases = traitlets.List().tag(sync=True)
    width = traitlets.Int(0).tag(sync=True)

    def __init__(self, sentence: int = 0, step: int = 0, **traits: object) -> None:
        cases, width = known_cases()
        super().__init__(
            sentence=sentence, step=step, cases=cases, width=width, **traits
        )

    def still(self) -> str:
        """Return the weights of all steps of the chosen head as a heat map."""
        import numpy as np

        case = self.cases[self.sentence]
        scores = np.array([s["scores"][self.head] for s in case["steps"]]) / 1000
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        words = [step["word"] for step in case["steps"]]
        title = (
            f"The recurrent translator writes “{' '.join(words)}”. Each row is a step; "
            f"its numbers are the weights of head {self.head} on the source."
        )
        return weights_picture(weights, words, case["source"], title)


@cache  # computed once for all widgets
def known_cases() -> tuple[list[dict[str, Any]], int]:
    """Return what the widget shows of each sentence, and the width of the states.

    Each is a dict: "source" and "reference", words; "memory", the first 20 numbers of
    the encoder's states in hundredths; "steps" of greedy search and "beams" by their
    size, as `greedy_steps` and `beam_steps` give them.
    """
    model, record = recorded.load_model("translation_lstm")
    words = record["vocabularies"].values()
    pairs = parallel_corpus(
        max(CHOSEN) + 1, ("french",), SEED, 6, 13, combinations="unseen"
    )["french"]
    return [_one_case(model, pairs[i], *words) for i in CHOSEN], model.d_model


def _one_case(model, pair, source_words, target_words):
    import torch

    ids = torch.tensor([source_words.encode(pair.source, eos=True)])
    longest = 2 * ids.shape[1]
    with torch.no_grad():
        memory = model.encode(ids)[0][0]
    return {
        "source": [*pair.source, "<eos>"],
        "reference": list(pair.target),
        "memory": as_parts(memory[:, :SHOWN], 100),
        "steps": greedy_steps(model, ids, target_words.tokens, longest),
        "beams": {
            str(size): beam_steps(model, ids, target_words.tokens, size, longest)
            for size in BEAMS
        },
    }


def greedy_steps(
    model: Any, source: Any, words: tuple[str, ...], longest: int
) -> list[dict[str, Any]]:
    """Return what happens at each step of greedy search: a list of dict.

    `source` are ids ``(1, source)``, `words` the target words by id. "word"; "likely",
    the five likeliest words with their probabilities; "state" and "context", the first
    20 numbers of each in hundredths; "scores", ``(heads, source)``, in thousandths,
    before the softmax.
    """
    import torch

    steps = []
    with torch.no_grad():
        memory, mask, state, _ = model.encode(source)
        attention = model.cross_attention
        keys, values = attention.project(memory, memory)
        token = torch.tensor([[model.bos_idx]])
        while len(steps) < longest and token.item() != model.eos_idx:
            asked, state = model.decoder(model.target_embedding(token), state)
            query = attention.query_proj(asked).unflatten(-1, (keys.shape[1], -1))
            query = query.transpose(1, 2) / query.shape[-1] ** 0.5
            scores = query @ keys.transpose(-2, -1)  # (1, heads, 1, source)
            context, _ = attention.attend(asked, (keys, values), mask)
            combined = torch.tanh(model.combine(torch.cat([context, asked], -1)))
            logits = model.output(combined)[0, 0]
            logits[model.pad_idx] = -torch.inf
            likely = logits.softmax(-1).topk(5)
            token = likely.indices[:1][None]
            steps.append(
                {
                    "word": words[token.item()],
                    "likely": [
                        [words[i], round(p, 4)]
                        for p, i in zip(*map(torch.Tensor.tolist, likely), strict=True)
                    ],
                    "state": as_parts(asked[0, 0, :SHOWN], 100),
                    "context": as_parts(context[0, 0, :SHOWN], 100),
                    "scores": as_parts(scores[0, :, 0]),
                }
            )
    return steps


def beam_steps(
    model: Any, source: Any, words: tuple[str, ...], size: int, longest: int
) -> list[list[list[Any]]]:
    """Return the `size` beginnings that beam search keeps at each step, best first.

    Of each: the row that it continues, its new word ("" if it has ended before), and
    its log-probability in thousandths of a nat. They are ranked by the mean for each
    word, as in `beam_search`. The arguments are as for `greedy_steps`.
    """
    from attncourse.models.decoding import beam_search

    kept: list[Any] = []
    beam_search(model, source, beam_size=size, max_len=longest, kept=kept)
    return [
        [
            [beam, words[token] if token else "", round(1000 * total)]
            for beam, token, total in zip(*(x[0].tolist() for x in step), strict=True)
        ]
        for step in kept
    ]
