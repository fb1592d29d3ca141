"""Classify the digits of scikit-learn with attention, convolution and neither.

    python experiments/digits.py              what is not yet there, seeds 0 to 2
    python experiments/digits.py --again      everything

A small Vision Transformer, with and without positions, a small convolutional network,
and logistic regression, trained on 100, 300 and 1,000 images. Learning rates (and the
penalty of the regression) are chosen on 297 images for validation, with seed 0 and
1,000 images; the accuracy is that on 500 others. The results are written to
attncourse/recorded/digits.json; all runs take some five minutes on one core.
"""

from functools import cache, partial

import numpy as np
import torch
import torch.nn.functional as F
from recording import Recorder, best, fit, parser_of, size_of
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import nn

from attncourse import seed_everything
from attncourse.models.vision import VisionTransformer

STEPS, BATCH = 400, 64
SIZES, RATES = (100, 300, 1000), (5e-4, 1e-3, 2e-3, 4e-3)
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


class SmallCNN(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Unflatten(1, (1, 8)),
            nn.Conv2d(1, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(64, 64, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(64 * 16, 10),
        )


transformer = partial(VisionTransformer, 16, 2, 10)
MODELS = {
    "vision transformer": transformer,
    "vision transformer, no positions": partial(transformer, positions=False),
    "convolution": SmallCNN,
}


@cache
def splits():
    """Return pixels between 0 and 1 and labels: training, validation, test."""
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    pixels = torch.tensor(data.images[order] / 16, dtype=torch.float32)
    labels = torch.tensor(data.target[order])
    parts = slice(0, 1000), slice(1000, 1297), slice(1297, 1797)
    return [(pixels[part], labels[part]) for part in parts]


def trained(name, images, rate, seed):
    """Return a network trained on the first of the images."""
    pixels, labels = (part[:images] for part in splits()[0])
    seed_everything(seed)
    model, rng = MODELS[name](), torch.Generator().manual_seed(seed)

    def batch(_):
        rows = torch.randint(len(labels), (BATCH,), generator=rng)
        return pixels[rows], labels[rows]

    def loss(model, pixels, labels):
        return F.cross_entropy(model(pixels), labels)

    fit(model, batch, loss, steps=STEPS, learning_rate=rate)
    return model


@torch.no_grad()
def accuracy(model, pixels, labels):
    return (model(pixels).argmax(-1) == labels).float().mean().item()


def sweep_run(name, rate):
    """Return the accuracy in validation at one learning rate."""
    model = trained(name, SIZES[-1], rate, 0)
    return {"validation": round(accuracy(model, *splits()[1]), 4)}


def run(name, images, seed, rate):
    """Return the accuracy of a network after some of the images."""
    model = trained(name, images, rate, seed)
    return {"rate": rate, "accuracy": round(accuracy(model, *splits()[2]), 4)}


def regression(name, images):
    """Return the accuracy with the penalty that is best in validation."""
    (pixels, labels), *held_out = [(x.flatten(1), y) for x, y in splits()]
    tried = [
        LogisticRegression(C=c, max_iter=5000).fit(pixels[:images], labels[:images])
        for c in PENALTIES
    ]
    chosen = max(tried, key=lambda m: m.score(*held_out[0]))
    return {"C": chosen.C, "accuracy": round(chosen.score(*held_out[1]), 4)}


def main():
    """Tune at the largest size, then train at each size with each seed."""
    options = parser_of(__doc__).parse_args()
    sizes = {name: size_of(make()) for name, make in MODELS.items()}
    packages = ("torch", "numpy", "scikit-learn")
    made = {"packages": packages, "steps": STEPS, "batch": BATCH, "parameters": sizes}
    rows = Recorder("digits", options, **made)
    for name in MODELS:
        chosen = best(rows.rows("sweep", sweep_run, name=[name], rate=RATES))
        measure = partial(run, rate=chosen["rate"])
        keys = {"name": [name], "images": SIZES, "seed": options.seeds}
        rows.rows("runs", measure, **keys)
    rows.rows("runs", regression, name=["logistic regression"], images=SIZES)


if __name__ == "__main__":
    main()
