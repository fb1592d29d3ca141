"""Compare five scores in one translator, for exercise 3.

    python experiments/variants.py              five scores, seeds 0 to 4
    python experiments/variants.py --again      runs that exist too

The scores are the course's own layers. The results are written to
attncourse/recorded/variants.json; all runs together take some minutes on one core.
"""

import sys
from pathlib import Path

import torch
from recording import Recorder, parser_of
from torch import nn
from translation import alignment_errors, quality

from attncourse import AdditiveAttention, MultiplicativeAttention
from attncourse.data import translation_tensors

sys.path.append(str(Path(__file__).parents[1]))
from tools.record_expected import SOLUTIONS, Solution

WIDTH, STEPS = 64, 600
GIVEN = Solution(SOLUTIONS / "3_attention_variants.ipynb").namespace()
CORPUS = GIVEN["Corpus"]()


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


def run(name, seed):
    """Train a model; return BLEU and alignment error on the test pairs."""
    torch.manual_seed(seed)
    words, pairs = (CORPUS.source, CORPUS.target), CORPUS.test
    source, _ = translation_tensors(pairs, *words)
    model = GIVEN["Translator"](*map(len, words), WIDTH, VARIANTS[name])
    how = {"seed": seed, "steps": STEPS, "device": "cpu", "progress": False}
    GIVEN["fit"](model, CORPUS.train, CORPUS, **how)
    ids = GIVEN["translate"](model, source, max_len=30).tolist()
    written = [CORPUS.target.decode(row) for row in ids]
    errors = alignment_errors(model, pairs, *words)
    return quality(pairs, written) | {"alignment_error": errors[0][0]}


def main():
    """Train and measure every variant with every seed."""
    options = parser_of(__doc__, seeds=range(5)).parse_args()
    runs = Recorder("variants", options, steps=STEPS, width=WIDTH)
    runs.rows("runs", run, name=VARIANTS, seed=options.seeds)


if __name__ == "__main__":
    main()
