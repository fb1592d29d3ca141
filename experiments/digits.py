"""Classify the digits of scikit-learn with attention, convolution and neither.

    python experiments/digits.py              what is not yet there, seeds 0 to 2
    python experiments/digits.py --again      everything

A small Vision Transformer, with and without positions, a small convolutional network,
and logistic regression, trained on 100, 300 and 1,000 images. Learning rates (and the
penalty of the regression) are chosen on 297 images for validation, with seed 0 and
1,000 images; the accuracy is that on 500 others. The results are written to
attncourse/recorded/digits.json; all runs take some five minutes on one core.
"""

import numpy as np
import torch
import torch.nn.functional as F
from recording import Recorder, fit, parser_of, size_of
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


MODELS = {
    "vision transformer": lambda: VisionTransformer(16, 2, 10),
    "vision transformer, no positions": lambda: VisionTransformer(
        16, 2, 10, positions=False
    ),
    "convolution": SmallCNN,
}


def splits():
    """Return pixels between 0 and 1 and labels: training, validation, test."""
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    pixels = torch.tensor(data.images[order] / 16, dtype=torch.float32)
    labels = torch.tensor(data.target[order])
    parts = slice(0, 1000), slice(1000, 1297), slice(1297, 1797)
    return [(pixels[part], labels[part]) for part in parts]


def trained(name, pixels, labels, seed, rate):
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


def sweep_run(name, rate, train_part, check):
    """Return the accuracy in validation at one learning rate."""
    model = trained(name, *train_part, 0, rate)
    return {"validation": round(accuracy(model, *check), 4)}


def run(name, images, seed, rate, train_part, test):
    """Return the accuracy of a network after some of the images."""
    pixels, labels = train_part
    model = trained(name, pixels[:images], labels[:images], seed, rate)
    return {"rate": rate, "accuracy": round(accuracy(model, *test), 4)}


def regression(images, train_part, check, test):
    """Return the accuracy with the penalty that is best in validation."""
    pixels, labels = (part[:images] for part in train_part)
    tried = [
        LogisticRegression(C=c, max_iter=5000).fit(pixels.flatten(1), labels)
        for c in PENALTIES
    ]
    best = max(tried, key=lambda m: m.score(check[0].flatten(1), check[1]))
    return {"C": best.C, "accuracy": round(best.score(test[0].flatten(1), test[1]), 4)}


def main():
    """Tune at the largest size, then train at each size with each seed."""
    options = parser_of(__doc__).parse_args()
    train_part, check, test = splits()
    sizes = {name: size_of(make()) for name, make in MODELS.items()}
    packages = ("torch", "numpy", "scikit-learn")
    made = {"packages": packages, "steps": STEPS, "batch": BATCH, "parameters": sizes}
    rows = Recorder("digits", options, **made)
    for name in MODELS:
        tried = {}
        for rate in RATES:
            how = name, rate, train_part, check
            found = rows.row("sweep", sweep_run, *how, name=name, rate=rate)
            tried[rate] = found["validation"]
        rate = max(tried, key=tried.get)
        for size in SIZES:
            for seed in options.seeds:
                how = name, size, seed, rate, train_part, test
                rows.row("runs", run, *how, name=name, images=size, seed=seed)
    for size in SIZES:
        how = size, train_part, check, test
        rows.row("runs", regression, *how, name="logistic regression", images=size)


if __name__ == "__main__":
    main()
