"""The engine behind the checks: calling, comparing, relations, recorded values."""

import linecache
import math

import numpy as np
import pytest
import torch

from attncourse.exercises import attention_variants, efficient_attention, notebook
from attncourse.exercises.compare import (
    NOT_DONE,
    Case,
    holds,
    judge,
    points,
    refused,
    render,
)
from attncourse.exercises.drawing import numbers, one_of, sizes, whole
from attncourse.exercises.forbidden import forbidden_uses
from attncourse.exercises.notebook import (
    open_exercise,
    source_of,
    text_of_task,
    verdicts_on,
)
from attncourse.exercises.probe import Probe, Task
from attncourse.exercises.recorded import Recorded, fingerprint
from attncourse.exercises.run import (
    Observation,
    Value,
    digest,
    draw,
    from_plain,
    gradients,
    leaf,
    observe,
    to_plain,
)

SEEDS = (0, 1, 2)


def probe(draw=None, **options):
    given = {"claim": "it holds", "given": "Given.", "why": "Wrong."}
    drawn = draw or (lambda g: {"x": numbers(g, *sizes(g, 2, 3, 5))})
    return Probe(draw=drawn, **(given | options))


def judged(answer, solution, it=None):
    """Return what is said about an answer where a solution is right."""
    it = it or probe()
    cases = [
        Case(
            seed,
            draw(it, seed),
            observe(it, [solution], seed),
            observe(it, [answer], seed),
        )
        for seed in it.seeds
    ]
    return judge(it, cases)


def said(answer, solution, it=None):
    return " ".join(judged(answer, solution, it).sentences)


def softmax(x):
    return x.softmax(-1)


# Drawing -----------------------------------------------------------------------------


def test_numbers_are_exact_in_half_precision_and_never_zero():
    x = numbers(torch.Generator().manual_seed(3), 40, 50)
    assert torch.equal(x.half().float(), x)
    assert (x != 0).all()
    assert x.abs().max() <= 2
    assert x.min() < -1.9
    assert x.max() > 1.9


def test_numbers_are_those_that_were_recorded():
    x = numbers(torch.Generator().manual_seed(0), 2, 3)
    assert (x * 128).int().tolist() == [[173, 48, 118], [193, 68, -252]]


def test_sizes_all_differ():
    for seed in range(50):
        drawn = sizes(torch.Generator().manual_seed(seed), 4)
        assert len(set(drawn)) == 4
        assert all(2 <= size <= 7 for size in drawn)


def test_whole_gives_numbers_and_tensors():
    g = torch.Generator().manual_seed(0)
    assert isinstance(whole(g, 1, 3), int)
    assert set(whole(g, 1, 3, 200).tolist()) == {1, 2, 3}


def test_each_option_is_drawn_for_one_of_the_notebooks_seeds():
    generators = (torch.Generator().manual_seed(seed) for seed in SEEDS)
    assert {one_of(g, "a", "b", "c") for g in generators} == {"a", "b", "c"}


# Calling -----------------------------------------------------------------------------


def test_an_error_names_the_line_of_the_answer():
    seen = observe(probe(), [lambda x: x @ x @ x], 0)
    assert seen.error.startswith("RuntimeError: mat1 and mat2")
    assert "lambda x: x @ x @ x" in seen.line


def test_what_an_answer_changes_in_place_is_noticed():
    assert observe(probe(), [lambda x: x.mul_(2)], 0).changed == ("x",)
    assert observe(probe(), [lambda x: x * 2], 0).changed == ()


def test_what_an_answer_prints_draws_or_sets_stays_there(capsys):
    def answer(x):
        print("here")
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(1)
        return x

    before = torch.get_rng_state()
    observe(probe(), [answer], 0)
    assert capsys.readouterr().out == ""
    assert torch.get_default_dtype() == torch.float32
    assert torch.equal(torch.get_rng_state(), before)


def test_nothing_in_a_list_is_a_value_too():
    assert list(observe(probe(), [lambda x: []], 0).values) == ["result"]


def test_parts_of_what_is_returned_have_names():
    it = probe(names=("output", "weights"))
    seen = observe(it, [lambda x: (x, {"a": x, "b": [1, 2]})], 0)
    assert list(seen.values) == ["output", "weights['a']", "weights['b']"]
    assert seen.values["weights['b']"].kind == "list"


@pytest.mark.parametrize(
    "thing",
    [None, True, 3, 2.5, "text", [1, 2], {(1, 2), (0, 1)}, ["a"], torch.ones(2, 3)],
)
def test_an_observation_survives_transport(thing):
    seen = observe(probe(), [lambda x: thing], 0)
    again = from_plain(to_plain(seen))
    assert (again.form, again.values.keys()) == (seen.form, seen.values.keys())
    for name, value in seen.values.items():
        twin = again.values[name]
        assert (twin.kind, twin.shape, twin.text) == (
            value.kind,
            value.shape,
            value.text,
        )
        np.testing.assert_array_equal(twin.data, value.data)


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"values": 3},
        {"values": {"result": ["tensor", "float32", [2], ["O", "AAAA"], ""]}},
        {"values": {"result": ["tensor", "float32", [9], ["<f8", "AAAA"], ""]}},
        {"values": {"result": ["tensor"]}},
        {"values": {"result": ["tensor", "", [1 << 17], ["<f8", "A" * 1398104], ""]}},
        {"values": {"result": ["tensor", "float32", [1] * 999, None, ""]}},
        [],
        None,
    ],
)
def test_what_is_no_observation_is_refused(forged):
    with pytest.raises(ValueError, match="no observation"):
        from_plain(forged)


def test_names_that_came_are_cut():
    said = to_plain(observe(probe(), [lambda x: x], 0))
    said["changed"] = ["é" * 10_000] * 99
    assert sum(map(len, from_plain(said).changed)) < 10_000


def test_gradients_tell_what_has_none():
    x, y = leaf(torch.ones(3)), leaf(torch.ones(3))
    found = gradients(2 * x, x=x, y=y)
    assert found["the gradient of x"].shape == (3,)
    assert found["the gradient of y"] is None
    assert gradients(torch.ones(3), x=x) == {"the gradient of x": None}


def test_the_hash_of_inputs_depends_on_every_number():
    x = torch.ones(3, 3)
    other = x.clone()
    other[2, 2] += 1e-6
    assert digest({"x": x}) == digest({"x": x.clone()})
    assert len({digest({"x": x}), digest({"x": other}), digest({"y": x})}) == 3


# What is said ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "solution", "words"),
    [
        (lambda x: x * 2, lambda x: x, "the expected value multiplied by 2 throughout"),
        (lambda x: -x, lambda x: x, "opposite sign"),
        (
            lambda x: x / x.shape[-1] ** 0.5,
            lambda x: x,
            "divided by the square root of the size of the last axis of `x`",
        ),
        (
            lambda x: x * x.shape[0],
            lambda x: x,
            "multiplied by the size of the last axis but one of `x`",
        ),
        (
            lambda x: x * (x.shape[0] + 10 * x.shape[1]),
            lambda x: x,
            "here, with another factor for other inputs",
        ),
        (lambda x: x * 0, lambda x: x, "is 0 everywhere"),
        (lambda x: x * 0 + 1, lambda x: x, "the same number everywhere"),
        (lambda x: x.mT, lambda x: x, "the axes 0 and 1 exchanged"),
        (lambda x: x @ x.mT @ x, lambda x: x, "Wrong."),
        (lambda x: (x @ x.mT).tril().mT, lambda x: (x @ x.mT).tril(), "0 and 1 exch"),
        (lambda x: x.softmax(0), softmax, "sums to 1 along axis 0"),
        (lambda x: x.exp(), softmax, "does not sum to 1 along the last axis"),
        (
            lambda x: (x * x.shape[-1] ** 0.5).softmax(-1),
            softmax,
            "right ones multiplied by the square root of the size of the last axis",
        ),
        (lambda x: (3 * x).softmax(-1), softmax, "right ones multiplied by 3 through"),
        (lambda x: x > 0, lambda x: x <= 0, "True and False exchanged"),
        (lambda x: x > 9, lambda x: x > 0, "is False everywhere"),
        (lambda x: x > -0.3, lambda x: x > 0, "True in all the right places, and in"),
        (lambda x: x * math.nan, lambda x: x, "is NaN throughout"),
        (lambda x: x * 1.001, lambda x: x, "multiplied by 1.001 throughout"),
        (lambda x: x.tolist(), lambda x: x, "should be a tensor; it is a list"),
        (lambda x: x.numpy(), lambda x: x, "should be a tensor; it is a NumPy array"),
        (lambda x: x + 0j, lambda x: x, "it is a complex64 tensor ("),
        (lambda x: [1.0, 2.0], lambda x: ["a", "b"], "Wrong."),
        (lambda x: x.sum(), lambda x: x.sum().item(), "a tensor with one element"),
        (lambda x: None, lambda x: x, "it is None. Is a `return` missing?"),
        (lambda x: x > 0, lambda x: x, "should have the type float32; it has bool"),
        (lambda x: x[:, :1], lambda x: x, "should have the shape"),
        (lambda x: x.mul_(2) / 2, lambda x: x, "The call changes `x`"),
        (lambda x: x.mul_(2).nothing, lambda x: x, "The call changes `x`"),
        (lambda x: {"b": x}, lambda x: {"a": x}, "returned: `a`. What came: `b`."),
        (lambda x: x.detach() * 1, lambda x: x.exp(), "Wrong."),
        (
            lambda x: (x, x),
            lambda x: x,
            "should be a tensor; it is a tuple or list of several",
        ),
        (lambda x: x.nothing, lambda x: x, "raises `AttributeError"),
    ],
)
def test_what_is_wrong_is_said(answer, solution, words):
    assert words in said(answer, solution)


def test_an_unwritten_answer_is_not_done_yet():
    def answer(x):
        raise NotImplementedError

    verdict = judged(answer, lambda x: x)
    assert verdict.kind == "undone"
    task = Task("t", "T", ("f",), 2, (verdict.probe,))
    for unsound, says in (((), NOT_DONE), (["1.1"], "uses that of Task 1.1, which")):
        assert says in text_of_task("1.2", task, [verdict], unsound)


def test_a_missing_gradient_is_named():
    def call(answer, x):
        x = leaf(x)
        return gradients(answer(x), x=x)

    it = probe(call=call)
    assert "No gradient reaches `x`." in said(lambda x: x.detach(), torch.exp, it)


def test_the_type_counts_where_it_is_asked_for():
    half, single = (lambda x: x.half()), (lambda x: x.half().float())
    assert judged(half, single).holds
    assert "float32; it has float16" in said(half, single, probe(exact_type=True))


def test_a_relation_that_holds_on_some_inputs_only_is_not_named():
    calls = []

    def answer(x):
        calls.append(1)
        return x * (2 if x.shape[0] % 2 else 3)

    words = said(answer, lambda x: x)
    assert "throughout" not in words


def test_nothing_is_claimed_from_constant_values():
    it = probe(lambda g: {"x": torch.ones(sizes(g, 2))})
    assert said(lambda x: x * 2, lambda x: x, it) == "Given. Wrong."


def test_a_right_answer_holds_and_an_early_error_counts():
    assert judged(softmax, lambda x: torch.softmax(x, dim=1)).holds
    it = probe()
    case = Case(
        0, draw(it, 0), observe(it, [softmax], 0), Observation({}, error="E: x")
    )
    assert not holds(it, case)


def test_a_measure_is_compared_with_its_range():
    def share(values, inputs):
        return (values["result"] == np.sign(inputs["x"].numpy())).mean()

    it = probe(measure=share, between=(0.9, 1))
    assert judged(torch.sign, torch.sign, it).holds
    words = said(lambda x: torch.sign(-x), torch.sign, it)
    assert "What is measured is 0; it should be at least 0.9." in words
    assert not judged(lambda x: x[:1, :1, None], torch.sign, it).holds


@pytest.mark.parametrize("shape", [(1, 9000, 1), (1, 1, 9000), (), (9000,)])
def test_what_has_another_shape_is_not_measured(shape):
    def measure(values, inputs):
        assert values["result"].ndim == 2, "an answer chooses what is computed"
        return 0.0

    it = probe(measure=measure, between=(0, 1))
    assert not judged(lambda x: torch.ones(shape), torch.sign, it).holds


def test_beside_what_is_measured_other_values_can_be_compared():
    it = probe(
        call=lambda answer, x: {"count": 1.0, "the output": answer(x)},
        measure=lambda values, inputs: values["count"],
        between=(0, 2),
        compared=("the output",),
    )
    assert judged(softmax, softmax, it).holds
    assert "`the output` is wrong" in said(torch.exp, softmax, it)


@pytest.mark.parametrize(
    ("value", "named"),
    [(Value("nothing"), ""), (Value("number", "float", (), np.array(2.5)), "A slip.")],
)
def test_a_slip_is_known_by_numbers_and_not_by_a_missing_gradient(value, named):
    seen = Observation({"the gradient of x": value})
    prints = {"0": fingerprint(seen)}
    slips = [{"says": "A slip.", "fails": [0], "prints": prints}]
    known = Recorded({"t": {"slips": slips}})
    assert known.slip("t", {0: {0: seen}}) == named


def test_values_whose_names_depend_on_the_inputs_are_judged():
    it = probe(call=lambda answer, x: {f"at {x.shape[0]}": answer(x), "same": 1.0})
    assert "Wrong." in said(torch.exp, torch.sin, it)


def test_differences_beyond_the_third_decimal_are_shown():
    it = probe(lambda g: {"x": numbers(g, 2, 3)})
    for line in judged(lambda x: x + 2e-4 * x.sign(), lambda x: x, it).example[-2:]:
        numbers_shown = line.split()
        assert numbers_shown[:3] != numbers_shown[3:]


def test_points_are_halves_and_full_only_if_all_holds():
    task = Task("t", "T", ("f",), 2, (probe(), probe(weight=2), probe(weight=0)))
    verdicts = refused(task, "missing", "No.")
    assert points(task, verdicts) == 0
    good = [type(v)(v.probe, True) for v in verdicts]
    assert points(task, good) == 2
    assert points(task, [good[0], verdicts[1], good[2]]) == 0.5
    assert points(task, [verdicts[0], good[1], good[2]]) == 1
    assert points(task, [good[0], good[1], verdicts[2]]) == 1.5


def test_equal_values_render_alike():
    it = probe()
    one, other = (
        observe(it, [softmax], 0),
        observe(it, [lambda x: softmax(x) + 1e-9], 0),
    )
    assert render(one, it) == render(other, it)
    assert render(one, it) != render(observe(it, [torch.exp], 0), it)


def test_a_missing_part_of_a_tuple_is_named():
    it = probe(names=("output", "weights"))
    words = said(lambda x: x, lambda x: (x, x + 1), it)
    assert "What should be returned: `output` and `weights`." in words
    assert "What came is a tensor of shape" in words


# What an answer is made of -----------------------------------------------------------

CELLS = {
    "<cell 1>": "from torch.nn import functional as F\nsdpa = F.pad\n",
    "<cell 2>": "def helper(x):\n    return sdpa(x, (1, 1))\n\nprint(F.relu)\n",
    "<cell 3>": "def answer(x):\n    return helper(x)\n\nassert F.gelu\n",
}


def test_an_answer_is_judged_with_what_it_needs_and_nothing_else():
    space = {"__name__": "__main__"}
    for name, source in CELLS.items():
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        exec(compile(source, name, "exec"), space)
    source = source_of([space["answer"]], space, ("torch.nn.functional.pad",))
    assert "def answer" in source
    assert "def helper" in source
    assert "gelu" not in source
    assert "relu" not in source
    assert forbidden_uses(source, ("torch.nn.functional.pad",))
    assert not forbidden_uses(source, ("torch.nn.functional.gelu",))
    alone = source_of([space["answer"]], space, (), {"helper"})
    assert "def helper" not in alone


@pytest.mark.parametrize(("module", "ruled"), [("numpy", True), ("math", False)])
def test_a_rule_of_one_task_holds_for_the_answers_that_it_calls(module, ruled):
    space, name = {"__name__": "__main__"}, f"<cell of {module}>"
    source = f"import {module}\ndef largest_tensor(x):\n    return {module}.sin(x)\n"
    source += "def window_attention(*words):\n    return largest_tensor(words[0])\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), space)
    for task, answer in (("local", "window_attention"), ("costs", "largest_tensor")):
        exercise = efficient_attention.EXERCISE
        verdicts = verdicts_on(exercise, exercise.task(task), [space[answer]], space)
        forbidden = verdicts[0].kind == "forbidden"
        assert forbidden == (ruled and task == "local")


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("by_element", [False, True])
def test_multiplications_are_counted_however_they_are_made(pairs, by_element):
    def product(x, layer):
        return (x[..., None, :] * layer.weight).sum(-1) if by_element else layer(x)

    class Additive(torch.nn.Module):
        def __init__(self, query_dim, key_dim, hidden_dim):
            super().__init__()
            self.query_proj = torch.nn.Linear(query_dim, hidden_dim, bias=False)
            self.key_proj = torch.nn.Linear(key_dim, hidden_dim, bias=False)
            self.v = torch.nn.Linear(hidden_dim, 1, bias=False)

        def forward(self, query, key):
            query, key = query[:, :, None], key[:, None]
            if pairs:
                query, key = torch.broadcast_tensors(query, key)
            first, second = product(query, self.query_proj), product(key, self.key_proj)
            return product(torch.tanh(first + second), self.v).squeeze(-1)

    (it,) = [p for p in attention_variants.SCORES if "each query once" in p.claim]
    inputs = {"query": torch.ones(2, 3, 5), "key": torch.ones(2, 4, 5)}
    inputs |= {"query_proj": torch.ones(6, 5), "key_proj": torch.ones(6, 5)}
    inputs |= {"v": torch.ones(1, 6)}
    found = it.call(*[Additive] * 5, **inputs)
    assert (it.measure(found, inputs) > 1) == pairs
    assert "scores" in it.compared and found["scores"].shape == (2, 3, 4)


@pytest.mark.parametrize(
    ("line", "forbidden"),
    [
        ("answer = nn.Softmax(dim=-1)", False),
        ("answer = partial(torch.softmax, dim=-1)", False),
        ("from torch.nn import Linear as answer", False),
        ("from attncourse.layers.rotary import apply_rotary as answer", True),
        ("answer = partial(apply_rotary, base=100.0)", True),
        ("answer = nn.MultiheadAttention(4, 2)", True),
    ],
)
def test_an_answer_may_be_an_object_of_a_library(line, forbidden):
    space = {"__name__": "__main__"}
    given = "import torch\nfrom torch import nn\nfrom functools import partial\n"
    given += "from attncourse.layers.rotary import apply_rotary\n"
    exec(given + line, space)
    names = ("attncourse.layers", "torch.nn.MultiheadAttention")
    assert bool(forbidden_uses(source_of([space["answer"]], space, names), names)) == (
        forbidden
    )


@pytest.mark.parametrize("name", ["nonsense", "probe"])
def test_an_unknown_exercise_is_named(name):
    with pytest.raises(ValueError, match=f"no exercise '{name}'"):
        open_exercise(name)


def test_a_package_that_is_missing_is_not_taken_for_a_missing_exercise(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'sacrebleu'", name="sacrebleu")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(ModuleNotFoundError, match="sacrebleu"):
        open_exercise("attention_variants")


def test_probes_that_are_not_recorded_give_no_verdict_but_the_remedy(monkeypatch):
    exercise = open_exercise("attention_from_scratch").exercise
    monkeypatch.setattr(notebook, "known", lambda name: Recorded({}))
    verdicts = verdicts_on(exercise, exercise.task("scores"), [torch.matmul], {})
    assert "`make expected` is due" in verdicts[0].sentences[0]
