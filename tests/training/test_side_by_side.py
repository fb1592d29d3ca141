import threading

import numpy as np
import pytest
import torch
from torch import nn

from attncourse.models.recurrent import RecurrentSeq2Seq
from attncourse.training import side_by_side, train, train_side_by_side
from tests.refusing import refuses


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def batches(seed):
    generator = np.random.default_rng(seed)

    def batch_of(step):
        return (torch.from_numpy(generator.integers(1, 9, (16, 7))),)

    return batch_of


def loss_of(model, source):
    logits = model(source, source)
    return nn.functional.cross_entropy(logits.flatten(0, 1), source.flatten())


def run_of(seed, loss_of=loss_of, steps=20):
    torch.manual_seed(seed)
    model = RecurrentSeq2Seq(9, 9, 16, attention="additive")
    options = {"learning_rate": 1e-2, "device": "cpu", "steps": steps}
    return {"model": model, "batch_of": batches(seed), "loss_of": loss_of, **options}


def test_each_run_comes_out_as_it_would_alone():
    together = [run_of(seed) for seed in range(3)]
    losses = train_side_by_side(together, progress=False)
    for seed, run in enumerate(together):
        alone = run_of(seed)
        assert train(**alone, progress=False) == losses[seed]
        for ours, theirs in zip(
            run["model"].parameters(), alone["model"].parameters(), strict=True
        ):
            assert torch.equal(ours, theirs)


def test_two_at_a_time_and_no_more_each_on_one_thread():
    both, most, now = threading.Barrier(2, timeout=60), [], []

    def watched(model, source):
        now.append(model)
        both.wait()  # passes only if another run is at this place
        most.append((len(now), torch.get_num_threads()))
        both.wait()
        now.remove(model)
        both.wait()
        return loss_of(model, source)

    torch.set_num_threads(2)
    try:
        runs = [run_of(seed, watched, steps=3) for seed in range(4)]
        train_side_by_side(runs, progress=False)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert set(most) == {(2, 1)}


def test_the_limit_of_threads_in_the_environment_holds(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    now, most = [], []

    def watched(model, source):
        now.append(model)
        most.append(len(now))
        loss = loss_of(model, source)
        now.remove(model)
        return loss

    together = [run_of(seed, watched, steps=9) for seed in range(3)]
    losses = train_side_by_side(together, progress=False)
    assert most == [1] * 27
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    again = [run_of(seed, steps=9) for seed in range(3)]
    assert train_side_by_side(again, progress=False) == losses


def test_one_bar_shows_the_steps_of_all(capsys):
    train_side_by_side([run_of(0), run_of(1)])
    shown = capsys.readouterr().err
    assert "training:   0%|" in shown
    assert "0/40" in shown
    train_side_by_side([run_of(0)], progress=False)
    assert capsys.readouterr().err == ""


def test_what_one_raises_ends_all_at_once():
    seen = []

    def endless(model, source):
        seen.append(1)
        return loss_of(model, source)

    def broken(model, source):
        if len(seen) > 2:
            raise RuntimeError("no more")
        return loss_of(model, source)

    before = threading.active_count()
    runs = [run_of(0, endless, 10**6), run_of(1, broken, 10**6), run_of(2, endless)]
    with pytest.raises(RuntimeError, match="no more"):
        train_side_by_side(runs, progress=False)
    assert threading.active_count() == before


def test_an_interrupt_ends_all(monkeypatch):
    before = threading.active_count()

    def interrupted(*rest, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(side_by_side, "wait", interrupted)
    runs = [run_of(seed, steps=10**6) for seed in range(2)]
    with pytest.raises(KeyboardInterrupt):
        train_side_by_side(runs, progress=False)
    assert threading.active_count() == before


def dropping():
    torch.manual_seed(0)
    run = {"batch_of": lambda step: (torch.ones(2, 3),), "steps": 5, "device": "cpu"}
    run["loss_of"] = lambda model, x: model(x).sum()
    models = [nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)) for _ in range(2)]
    return [{"model": model, **run} for model in models]


def lacking():
    return {k: v for k, v in run_of(1).items() if k not in ("loss_of", "steps")}


test_runs_that_cannot_go_side_by_side_are_refused = refuses(
    (dropping, "must not draw from PyTorch's generator"),
    (lambda: [run_of(0)] * 2, "its own model, but two share one"),
    (
        lambda: [run_of(0), lacking()],
        TypeError,
        r"runs\[1\] must hold model, .* lacks loss_of, steps\.",
    ),
    (lambda: [nn.Linear(3, 3)], TypeError, r"runs\[0\] must be a dict .* got Linear"),
    (lambda: [run_of(0) | {"steps": 0}], "steps must be"),
    run=lambda runs: train_side_by_side(runs(), progress=False),
)
