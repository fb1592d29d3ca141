"""Two widgets in an empty page: sparse patterns, and an induction head at work."""

import itertools

import numpy as np
import pytest
import torch

from attncourse import Transformer, create_causal_mask, seed_everything
from attncourse.data.symbols import repeated_sequence_batch
from attncourse.layers.sparse import global_blocks, strided_blocks, window_blocks
from attncourse.widgets import InductionHead, SparsePatterns

PHONE = {"width": 390, "height": 800}


@pytest.fixture
def show(shown):
    """Return a function that renders a widget on a telephone's screen."""

    def on_a_phone(widget):
        page = shown(widget, viewport=PHONE, has_touch=True)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        return page

    return on_a_phone


def block_mask(blocks, *, causal, window, dilation, stride, global_tokens):
    """Put a pattern together from the functions of the layers."""
    if window is None and stride is None and not global_tokens:
        mask = torch.ones(blocks, blocks, dtype=torch.bool)
    else:
        mask = global_blocks(blocks, global_tokens)
    if window is not None:
        wide = window_blocks(blocks, window * dilation)
        mask = mask | (wide & strided_blocks(blocks, dilation))
    if stride is not None:
        mask = mask | strided_blocks(blocks, stride)
    return mask & create_causal_mask(blocks) if causal else mask


NAMES = ("causal", "window", "dilation", "stride", "global_tokens")
GRID = ((True, False), (None, 0, 3), (1, 2), (None, 5), (0, 2))
PATTERNS = [dict(zip(NAMES, v, strict=True)) for v in itertools.product(*GRID)]


def test_patterns_and_their_cost_are_those_of_the_layers(show):
    page = show(SparsePatterns())
    code = """async ({text, patterns, n}) => {
      const blob = new Blob([text], {type: "text/javascript"});
      const module = await import(URL.createObjectURL(blob));
      return patterns.map(one => [module.pattern(24, one), module.costs(n, one)]);
    }"""
    n, given = 2**11, {"text": SparsePatterns._esm, "patterns": PATTERNS}
    found = page.evaluate(code, {**given, "n": n})
    for parts, (mask, cost) in zip(PATTERNS, found, strict=True):
        expected = block_mask(24, **parts)
        assert np.array_equal(mask, expected)
        assert np.array_equal(SparsePatterns(**parts).mask(), expected)
        pairs = int(block_mask(n // 64, **parts).sum()) * 64**2
        assert cost["sparse"] == {
            "pairs": pairs,
            "multiplications": 2 * pairs * 512,
            "bytes": 8 * pairs * 4,
        }
        full = sum(range(n // 64 + 1)) * 64**2 if parts["causal"] else n**2
        assert cost["full"]["pairs"] == full
        assert cost["projections"] == 4 * n * 512**2


def test_an_output_is_followed_through_the_layers(show):
    page = show(SparsePatterns(window=2, stride=7))
    table = page.locator("details table tbody")
    page.locator("details summary").click()

    def check(query, **parts):
        parts = {**dict.fromkeys(NAMES), "causal": True, "global_tokens": 0, **parts}
        mask = block_mask(24, **{**parts, "dilation": parts["dilation"] or 1}).double()
        for layers, row in enumerate(table.locator("tr").all(), 1):
            reached = torch.linalg.matrix_power(mask, layers)[query].nonzero().flatten()
            count, which = row.locator("td").all_inner_texts()
            assert int(count) == len(reached)
            assert which == ", ".join(map(str, reached.tolist()))
        said = page.locator(".attn-report").inner_text()
        assert f"Output {query} can depend on" in said

    check(23, window=2, stride=7)
    page.get_by_label("output that is followed").press("ArrowLeft")
    check(22, window=2, stride=7)
    page.locator(".attn-pick").nth(12).tap()  # a row of the pattern
    check(12, window=2, stride=7)
    page.locator(".attn-pick").nth(24 + 9).tap()  # a position of the layers
    check(9, window=2, stride=7)
    page.get_by_role("button", name="dilated window").click()
    page.get_by_label("dilation of the local window").press("ArrowRight")
    check(9, causal=False, window=2, dilation=4)
    assert "The others never reach it." in page.locator(".attn-report").inner_text()
    page.get_by_role("button", name="window + global").click()
    check(9, causal=False, window=1, global_tokens=1)
    assert "24 through 2" in page.locator(".attn-report").inner_text()
    page.get_by_label("length").press("Home")
    full = page.locator(".attn-cost tbody tr").first.locator("td").first.inner_text()
    assert full.startswith(f"{2 * 512**2 * 512 / 1e6:.3g} million")


@torch.no_grad()
def test_an_induction_head_shows_what_pytorch_computes(show):
    seed_everything(2)
    model = Transformer(27, 16, 4, 2, positions="rotary", feedforward_dim=0).eval()
    for weight in model.parameters():
        weight.copy_((3 * weight).half())
    tokens = repeated_sequence_batch(8, 5, 5, 26, seed=3)[0]
    widget = InductionHead(model, tokens)
    page = show(widget)
    heads = [
        int(np.argmax(widget.scores[layer][kind]))
        for layer, kind in enumerate(("previous", "induction"))
    ]
    page.locator("details summary").click()

    def check(text, query):
        ids = [ord(letter) - 64 for letter in 2 * text]
        logits, maps = model(torch.tensor([ids]), need_weights=True)
        low, high = (maps[layer][0, head] for layer, head in enumerate(heads))
        key = int(high[query].argmax())
        rows = page.locator("details table tbody tr").all()
        found = [
            [float(x) for x in row.locator("td").all_inner_texts()] for row in rows
        ]
        expected = torch.stack([high[query], low[key]], dim=-1)
        np.testing.assert_allclose(found, expected, atol=0.0051)
        shares, best = logits[0, query].softmax(-1).topk(3)
        for row, share, token in zip(
            page.locator(".attn-cost tr").all(), shares, best, strict=True
        ):
            letter = chr(64 + token) if token else "none"
            assert row.inner_text().split()[:2] == [letter, f"{share:.2f}"]
        said = page.locator(".attn-report").inner_text()
        assert said.startswith(f"After {(2 * text)[query]} (position {query + 1})")

    check("KMTBXE", 8)
    page.get_by_label("The model has read up to").press("ArrowRight")
    check("KMTBXE", 9)
    page.locator(".attn-pick").nth(7).tap()
    check("KMTBXE", 7)
    page.get_by_label("Letters, which").fill("abc")
    check("ABC", 5)
    page.get_by_label("Letters, which").fill("ab?")
    assert "does not know “?”" in page.locator(".attn-report").inner_text()
    assert page.locator("svg").is_hidden()
    page.get_by_role("button", name="Other letters").click()
    check("KMTBXE", 7)
