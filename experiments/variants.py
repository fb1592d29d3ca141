"""Compare five scores in one translator, for exercise 3.

    python experiments/variants.py              five scores, seeds 0 to 4
    python experiments/variants.py --again      runs that exist too

The scores are the course's own layers. The results are written to
attncourse/recorded/variants.json; all runs together take some minutes on one core.
"""

import sys
from functools import partial
from pathlib import Path

import torch
from recording import Recorder, parser_of
from torch import nn

from attncourse import AdditiveAttention, MultiplicativeAttention
from attncourse.training.metrics import alignment_error_rate, bleu
from attncourse.training.translation import cross_attention_of, translate

sys.path.append(str(Path(__file__).parents[1]))
from tools.record_expected import SOLUTIONS, Solution

NAME, WIDTH, STEPS = "variants", 64, 600
GIVEN = Solution(SOLUTIONS / "3_attention_variants.ipynb").namespace()


class ScaledDotAttention(nn.Module):
    """Dot attention whose scores are divided by the root of the width."""

    def __init__(self, width):
        super().__init__()
        self.dot = MultiplicativeAttention(width, width, "dot")

    def forward(self, memory, states, mask):
        """Return context and weights, like the layers of the course."""
        return self.dot(memory, states / states.shape[-1] ** 0.5, mask)


VARIANTS = {
    "dot": lambda: MultiplicativeAttention(WIDTH, WIDTH, "dot"),
    "scaled dot": lambda: ScaledDotAttention(WIDTH),
    "general": lambda: MultiplicativeAttention(WIDTH, WIDTH, "general"),
    "additive": lambda: AdditiveAttention(WIDTH, WIDTH, WIDTH),
    "concat": lambda: MultiplicativeAttention(WIDTH, WIDTH, "concat"),
}


def run(make_attention, corpus, seed):
    """Train a model; return BLEU and alignment error on the test pairs."""
    torch.manual_seed(seed)
    sizes = len(corpus.source), len(corpus.target)
    model = GIVEN["Translator"](*sizes, WIDTH, make_attention)
    GIVEN["fit"](model, corpus.train, corpus, seed=seed, steps=STEPS, device="cpu")
    words = corpus.source, corpus.target
    pairs = corpus.test
    written = translate(model, [pair.source for pair in pairs], *words)
    score, signature = bleu(written, [list(pair.target) for pair in pairs])
    maps = cross_attention_of(model, pairs, *words)
    error = alignment_error_rate([m[0, 0] for m in maps], [p.alignment for p in pairs])
    return {
        "bleu": round(score, 2),
        "alignment_error": round(error, 4),
        "sentences": len(pairs),
        "signature": signature,
    }


def main():
    """Train and measure every variant with every seed."""
    options = parser_of(__doc__, seeds=(0, 1, 2, 3, 4)).parse_args()
    torch.set_num_threads(1)
    corpus = GIVEN["Corpus"]()
    runs = Recorder(NAME, options.again, steps=STEPS, width=WIDTH)
    for seed in options.seeds:
        for name, make_attention in VARIANTS.items():
            measure = partial(run, make_attention, corpus, seed)
            runs.row("runs", measure, name=name, seed=seed)


if __name__ == "__main__":
    main()
