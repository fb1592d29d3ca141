"""What the widgets compute in JavaScript is what the package computes."""

import itertools
import json
import math

import numpy as np
import pytest
import torch

from attncourse import (
    T5RelativeBias,
    alibi_bias,
    apply_rotary,
    create_causal_mask,
    create_padding_mask,
    sinusoidal_encoding,
)
from attncourse.layers.sparse import global_blocks, strided_blocks, window_blocks
from attncourse.viz.colours import KEY, QUERY, VALUE
from attncourse.widgets import (
    AttentionByHand,
    Masks,
    Positions,
    Saturation,
    SparsePatterns,
)
from attncourse.widgets._base import module_text, style_text
from attncourse.widgets._drawing import COLOURS
from attncourse.widgets.masks import pattern
from attncourse.widgets.positions import SCHEMES
from attncourse.widgets.saturation import WIDTHS, normal_numbers, products

IMPORT = """async (text) => {
  const blob = new Blob([text], {type: "text/javascript"});
  window.module = await import(URL.createObjectURL(blob));
}"""


@pytest.fixture(scope="module")
def run(browser):
    """Return a function that calls what a widget's module exports."""
    with browser.new_context() as window:
        tabs = {}

        def call(widget, expression, **values):
            if widget not in tabs:
                tabs[widget] = window.new_page()
                tabs[widget].evaluate(IMPORT, module_text(widget))
            return tabs[widget].evaluate(f"(v) => {expression}", values)

        yield call


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_attention_by_hand_is_that_of_the_package(run, scaled, temperature):
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(3, 3, 3)).round(2)
    names = ("query_map", "key_map", "value_map")
    widget = AttentionByHand(
        **dict(zip(names, maps, strict=True)), scaled=scaled, temperature=temperature
    )
    output, weights = widget.attention()
    state = {"vectors": widget.vectors, "maps": maps.tolist()}
    state |= {"scaled": scaled, "temperature": temperature}
    seen = run("by_hand", "module.attention(v.state)", state=state)
    np.testing.assert_allclose(seen["weights"], weights, atol=1e-12)
    np.testing.assert_allclose(seen["output"], output, atol=1e-12)
    x = torch.tensor(widget.vectors)
    query, key, value = (x @ torch.tensor(m, dtype=x.dtype) for m in maps)
    divisor = temperature * (3**0.5 if scaled else 1)
    oracle = torch.nn.functional.scaled_dot_product_attention(
        query.double(), key.double(), value.double(), scale=1 / divisor
    )
    np.testing.assert_allclose(output, oracle, atol=1e-6)


def test_the_random_numbers_are_normal():
    drawn = normal_numbers(5, np.arange(200_000))
    assert abs(drawn.mean()) < 0.01
    assert abs(drawn.std() - 1) < 0.01
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.01


@pytest.mark.parametrize("seed", [0, 7, 9999])
def test_saturation_draws_and_measures_the_same_numbers(run, seed):
    drawn = products(seed)
    seen = run("saturation", "module.products(v.seed)", seed=seed)
    for width in WIDTHS:
        np.testing.assert_allclose(seen[str(width)], drawn[width], atol=1e-9)
    for power in (0.0, 0.5, 0.85):
        here = Saturation(seed=seed).measures(power)
        there = run(
            "saturation",
            "module.products(v.seed).then((all) => module.measuresAt(all, v.power))",
            seed=seed,
            power=power,
        )
        np.testing.assert_allclose(there, [here[w] for w in WIDTHS], atol=1e-9)


def test_saturation_measures_what_a_softmax_of_torch_does():
    scores = torch.tensor(products(3)[64])
    weights = scores.softmax(dim=-1)
    entropy = torch.special.entr(weights).sum(-1).mean() / math.log(16)
    slope = torch.stack(
        [torch.func.jacrev(lambda s: s.softmax(0))(row).diag() for row in scores]
    )
    _, seen_entropy, seen_slope = Saturation(seed=3).measures(0.0)[64]
    assert seen_entropy == pytest.approx(entropy.item())
    assert seen_slope == pytest.approx(slope.mean().item())


def settings_of(widget):
    return {
        "width": widget.width,
        "base": 10**widget.base_power,
        "content": widget.content,
        "head": widget.head,
        "table": widget._table,
        "t5": widget._t5,
    }


def positions_widgets():
    torch.manual_seed(0)
    for both in (True, False):
        bias = T5RelativeBias(4, 16, 20, bidirectional=both, scale=10)
        torch.nn.init.normal_(bias.table)
        table = torch.randn(50, 12)
        extra = (
            {"width": 16, "base_power": 2.5, "content": 3, "head": 2} if both else {}
        )
        yield Positions(learned=table, t5_bias=bias, **extra), bias, table


@pytest.mark.parametrize("name", SCHEMES)
def test_positions_are_the_same_in_both_languages(run, name):
    for widget, _, _ in positions_widgets():
        places = [(p, r) for p in (0, 20, 49) for r in (-64, -20, -3, 0, 1, 30, 64)]
        here = [widget.value(p, r, name) for p, r in places]
        there = run(
            "positions",
            "v.places.map(([p, r]) => module.scheme(v.name, v.settings)(p, r))"
            ".map(x => Number.isNaN(x) ? null : x)",
            name=name,
            settings=settings_of(widget),
            places=places,
        )
        there = [math.nan if x is None else x for x in there]
        np.testing.assert_allclose(there, here, atol=1e-9)


def test_positions_are_those_of_the_layers():
    for widget, bias, table in positions_widgets():
        if widget.base_power == 4:
            rows = sinusoidal_encoding(60, widget.width)
            cosine = torch.nn.functional.cosine_similarity(rows[20], rows[:50], dim=-1)
            seen = [widget.value(20, key - 20, "sinusoidal") for key in range(50)]
            np.testing.assert_allclose(seen, cosine, atol=1e-5)
        cosine = torch.nn.functional.cosine_similarity(table[20], table, dim=-1)
        seen = [widget.value(20, key - 20, "learned") for key in range(50)]
        np.testing.assert_allclose(seen, cosine, atol=2e-3)  # the table is rounded
        expected = bias(1, 50, query_offset=20)[widget.head, 0].detach()
        seen = [widget.value(20, key - 20, "T5 bias") for key in range(50)]
        np.testing.assert_allclose(seen, expected, atol=1e-3)
        expected = alibi_bias(8, 21, 50)[widget.head, 20]
        seen = [widget.value(20, key - 20, "ALiBi") for key in range(50)]
        np.testing.assert_allclose(seen, expected, atol=1e-6)


@pytest.mark.parametrize("content", [0, 1, 9])
def test_rotary_turns_as_the_layer_does(content):
    widget = Positions(scheme="rotary", content=content, width=32, base_power=3.0)
    query = key = np.ones(32)
    if content:
        query, key = normal_numbers(content, np.arange(64)).reshape(2, 32)
    query, key = torch.tensor(query)[None], torch.tensor(key)[None]
    for distance in (-7, 0, 12):
        places = (torch.tensor([20]), torch.tensor([20 + distance]))
        turned = [
            apply_rotary(x, place, base=1000.0)
            for x, place in zip((query, key), places, strict=True)
        ]
        expected = torch.nn.functional.cosine_similarity(*turned).item()
        assert widget.value(20, distance) == pytest.approx(expected, abs=1e-9)


PARTS = [
    dict(zip(("causal", "window", "global_tokens", "stride"), values, strict=True))
    for values in itertools.product(
        (True, False), (None, 0, 2), (0, 1, 3), (None, 2, 5)
    )
]


def test_masks_are_the_same_in_both_languages(run):
    for parts in PARTS:
        for padding, side in ((0, "right"), (4, "right"), (4, "left")):
            given = {**parts, "padding": padding, "side": side}
            here = pattern(11, **given)
            there = run("patterns", "module.pattern(11, v.given)", given=given)
            assert there == here.tolist()
        needed = run("patterns", "module.layersNeeded(v.mask)", mask=here.tolist())
        powers = [np.linalg.matrix_power(here.astype(float), n) > 0 for n in range(12)]
        first = np.argmax(powers[1:], axis=0) + np.any(powers[1:], axis=0)
        assert needed == first.tolist()


def test_pairs_are_counted_without_the_mask(run):
    for parts in PARTS:
        expected = [
            pattern(n, padding=0, side="right", **parts).sum() for n in (1, 7, 23)
        ]
        there = run(
            "patterns", "[1, 7, 23].map(n => module.pairCount(n, v.p))", p=parts
        )
        assert there == expected


def test_masks_are_those_of_the_layers():
    off = {"window": None, "stride": None, "global_tokens": 0, "causal": False}
    plain = {**off, "padding": 0, "side": "right"}

    def same(mask, **parts):
        return np.array_equal(pattern(12, **{**plain, **parts}), mask)

    assert same(create_causal_mask(12), causal=True)
    assert same(window_blocks(12, 3), window=3)
    past = window_blocks(12, 3) & create_causal_mask(12)
    assert same(past, window=3, causal=True)
    assert same(strided_blocks(12, 4), stride=4)
    assert same(global_blocks(12, 2), global_tokens=2)
    both = window_blocks(12, 1) | global_blocks(12, 1)
    assert same(both, window=1, global_tokens=1)
    ids = torch.tensor([[0] * 5 + [1] * 7])
    padded = create_padding_mask(ids)[0, 0] & create_causal_mask(12)
    assert same(padded, causal=True, padding=5, side="left")
    padded = create_padding_mask(ids.flip(1))[0, 0].expand(12, 12)
    assert same(padded, padding=5)


def test_the_widgets_speak_the_colour_language_of_the_course():
    style = style_text().lower()
    for name, colour, still in zip(
        ("query", "key", "value"), (QUERY, KEY, VALUE), COLOURS, strict=True
    ):
        assert f"--attn-{name}: {colour.lower()};" in style
        assert colour in still


@pytest.mark.parametrize(
    "kind", [AttentionByHand, Saturation, Positions, Masks, SparsePatterns]
)
def test_a_still_picture_says_what_it_shows(kind):
    from xml.etree import ElementTree

    picture = ElementTree.fromstring(kind().still())
    assert len(picture.get("aria-label")) > 40
    assert len(list(picture.iter())) > 20


@pytest.mark.parametrize(
    "kind", [AttentionByHand, Saturation, Positions, Masks, SparsePatterns]
)
def test_what_a_notebook_stores_is_the_same_in_each_run(kind):
    assert repr(kind()) == f"{kind.__name__}()"
    data, _ = kind()._repr_mimebundle_()
    view = "application/vnd.jupyter.widget-view+json"
    assert set(data) == {view, "image/svg+xml", "text/plain"}
    assert json.loads(json.dumps(data[view]))["model_id"]


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (AttentionByHand, {"vectors": [[1.0, 2.0, 3.0]]}),
        (AttentionByHand, {"temperature": 0.0}),
        (Saturation, {"width": 63}),
        (Positions, {"scheme": "none"}),
        (Masks, {"stride": 0}),
    ],
)
def test_a_value_out_of_range_is_refused(kind, wrong):
    from traitlets import TraitError

    with pytest.raises(TraitError):
        kind(**wrong)
