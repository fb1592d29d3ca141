"""Classify the digits of scikit-learn with attention, convolution and neither.

    python experiments/digits.py              seeds 0 to 2
    python experiments/digits.py --seeds 0    one seed only

A small Vision Transformer, with and without positions, a small convolutional network,
and logistic regression, trained on 100, 300 and 1,000 images. Learning rates (and the
penalty of the regression) are chosen on 297 images for validation, with the first seed
and 1,000 images; the accuracy is that on 500 others. The results are written to
attncourse/recorded/digits.json; all runs take some five minutes on one core.
"""

import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import nn

from attncourse import seed_everything
from attncourse.models.vision import VisionTransformer
from attncourse.recorded.writing import provenance, save
from attncourse.training import train

NAME, STEPS, BATCH = "digits", 400, 64
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


def fit(make, pixels, labels, seed, rate):
    seed_everything(seed)
    model, rng = make(), torch.Generator().manual_seed(seed)

    def batch(_):
        rows = torch.randint(len(labels), (BATCH,), generator=rng)
        return pixels[rows], labels[rows]

    def loss(model, pixels, labels):
        return F.cross_entropy(model(pixels), labels)

    options = {"learning_rate": rate, "device": "cpu", "progress": False}
    train(model, batch, loss, steps=STEPS, **options)
    return model.eval()


@torch.no_grad()
def accuracy(model, pixels, labels):
    return (model(pixels).argmax(-1) == labels).float().mean().item()


def regression(pixels, labels, check):
    """Return logistic regression with the penalty that is best in validation."""
    tried = [
        LogisticRegression(C=c, max_iter=5000).fit(pixels.flatten(1), labels)
        for c in PENALTIES
    ]
    return max(tried, key=lambda m: m.score(check[0].flatten(1), check[1]))


def main():
    """Tune at the largest size, then train at each size with each seed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    torch.set_num_threads(1)
    (pixels, labels), check, test = splits()
    runs, sweep, begin = [], [], time.process_time()
    for name, make in MODELS.items():
        tried = {}
        for rate in RATES:
            model = fit(make, pixels, labels, options.seeds[0], rate)
            tried[rate] = round(accuracy(model, *check), 4)
            sweep.append({"name": name, "rate": rate, "validation": tried[rate]})
            print(sweep[-1], flush=True)
        rate = max(tried, key=tried.get)
        for size in SIZES:
            for seed in options.seeds:
                model = fit(make, pixels[:size], labels[:size], seed, rate)
                result = {"name": name, "images": size, "seed": seed, "rate": rate}
                runs.append(result | {"accuracy": round(accuracy(model, *test), 4)})
                print(runs[-1], flush=True)
    for size in SIZES:
        model = regression(pixels[:size], labels[:size], check)
        score = model.score(test[0].flatten(1), test[1])
        result = {"name": "logistic regression", "images": size, "C": model.C}
        runs.append(result | {"accuracy": round(score, 4)})
        print(runs[-1], flush=True)
    sizes = {
        n: sum(w.numel() for w in make().parameters()) for n, make in MODELS.items()
    }
    made = provenance(
        options.seeds,
        packages=("torch", "numpy", "scikit-learn"),
        steps=STEPS,
        batch=BATCH,
        parameters=sizes,
        cpu_seconds=round(time.process_time() - begin),
    )
    save(NAME, {"made": made, "sweep": sweep, "runs": runs})


if __name__ == "__main__":
    main()
