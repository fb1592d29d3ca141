"""Windows of a text, and its score in bits per byte."""

import math

import pytest
import torch
import torch.nn.functional as F

from attncourse import GPT
from attncourse.data.bpe import BPETokenizer
from attncourse.training.language import (
    bits_per_byte,
    next_token_loss,
    text_windows,
    token_losses,
)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    model = GPT(256, 12, 2, 1, context=11)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return model.eval()


def test_windows_are_pieces_of_the_text_and_depend_on_the_step_alone():
    batch_of = text_windows(torch.arange(50), batch=7, length=5, seed=3)
    (windows,) = batch_of(2)
    assert windows.shape == (7, 6)
    assert torch.equal(windows, windows[:, :1] + torch.arange(6))
    assert torch.equal(windows, batch_of(2)[0])
    assert not torch.equal(windows, batch_of(3)[0])
    starts = {int(w) for step in range(60) for w in batch_of(step)[0][:, 0]}
    assert starts == set(range(45))
    with pytest.raises(ValueError, match="more than 50 tokens"):
        text_windows(torch.arange(50), 1, 50)


def test_the_loss_is_that_of_each_next_token(model):
    windows = torch.randint(256, (3, 12))
    logp = model(windows[:, :-1]).log_softmax(-1)
    expected = [-logp[b, i, windows[b, i + 1]] for b in range(3) for i in range(11)]
    torch.testing.assert_close(next_token_loss(model, windows), sum(expected) / 33)


@pytest.mark.parametrize("length", [2, 12, 13, 40, 61])
@pytest.mark.parametrize("overlap", [0, 5, 10])
def test_every_token_is_counted_once_with_context_enough(model, length, overlap):
    ids = torch.randint(256, (length,), generator=torch.Generator().manual_seed(2))
    found = token_losses(model, ids, overlap=overlap, batch=3)
    step = 11 - overlap
    for i, loss in enumerate(found):
        begin = 0 if i < 11 else ((i - 11) // step + 1) * step
        assert i - begin >= overlap or begin == 0
        with torch.no_grad():
            logits = model(ids[None, begin : i + 1])[0, -1:]
        torch.testing.assert_close(loss, F.cross_entropy(logits, ids[i + 1 : i + 2]))


def test_bits_per_byte_of_an_even_guess_are_the_logarithm_of_the_vocabulary():
    tokenizer = BPETokenizer.train("abab abab", 1)
    model = GPT(257, 12, 2, 1, context=11)
    torch.nn.init.zeros_(model.embedding.weight)
    text = "abab é"
    assert len(tokenizer.encode(text)) == 5
    score = bits_per_byte(model, tokenizer, text)
    assert score == pytest.approx(5 * math.log2(257) / 7, rel=1e-6)


def test_bad_input(model):
    with pytest.raises(ValueError, match="overlap must be from 0 to 10"):
        token_losses(model, [1, 2, 3], overlap=11)
    with pytest.raises(ValueError, match="at least 2 tokens"):
        token_losses(model, [1])
