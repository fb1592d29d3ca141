"""Answers that look for the right values, or use what is forbidden, get nothing.

The process that runs them has no expected value. The rule that reads the source is
switched off where a test shows what holds without it.
"""

import tomllib
from pathlib import Path

import pytest

from attncourse.exercises.run import draw
from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade import grading
from grader.tests.conftest import ATTENTION, ATTENTION_ON_SCORES, SOLUTIONS, define

pytestmark = pytest.mark.usefixtures("forker")
FIRST = "1_attention_from_scratch"


@pytest.fixture(autouse=True)
def short_deadlines(monkeypatch):
    monkeypatch.setattr(grading, "LIMITS", (6, 12))


@pytest.fixture
def grade(hand_in):
    """Return a function that grades cells and gives back {task: TaskGrade}."""

    def graded(*cells, exercise=FIRST):
        path = hand_in(*cells, metadata={"attncourse": {"exercise": exercise}})
        found = grading.grade_file(path, solutions=SOLUTIONS)
        return {task.task.name: task for task in found.tasks}

    return graded


SEARCHING = """
import importlib, os, pickle, pkgutil, sys
from glob import glob
import attncourse
PACKAGE = os.path.dirname(attncourse.__file__)
MODULES = {"importlib": importlib, "os": os, "pickle": pickle, "pkgutil": pkgutil}
MODULES |= {"sys": sys, "glob": glob}
def searched(search):
    try:
        exec(search, {"PACKAGE": PACKAGE, "SOLUTIONS": SOLUTIONS} | MODULES)
    except (ImportError, OSError, LookupError):
        return False
    return True
FOUND = [name for name, search in ROUTES.items() if searched(search)]
def attention_scores(query, key):
    if FOUND:
        raise ValueError(str(FOUND))
    return query @ key.mT / key.shape[-1] ** 0.5
"""
MEMORY = """
import gc, sys
FRAMES = []
def walk(frame):
    while frame is not None:
        FRAMES.append(sorted(frame.f_locals))
        yield from list(frame.f_locals.values())
        frame = frame.f_back
KINDS = ("Case", "Verdict", "Recorded", "Template", "Recorder")
def attention_scores(query, key):
    right = query @ key.mT / key.shape[-1] ** 0.5
    things = [*walk(sys._getframe()), *gc.get_objects()]
    bad = {type(x).__name__ for x in things} & set(KINDS)
    bad |= {n for n in sys.modules if n.startswith("attncourse.layers")}
    bad |= {name for names in FRAMES for name in names if "expected" in name}
    for thing in things:
        if torch.is_tensor(thing) and thing is not right and thing.shape == right.shape:
            if not thing.is_meta and thing.dtype == right.dtype:
                if torch.equal(thing, right):
                    bad.add("the right values")
    if bad:
        raise ValueError(str(sorted(bad)))
    return right
"""


ROUTES = tomllib.loads(Path(__file__).with_name("routes.toml").read_text("utf8"))
USING = """
import ctypes, importlib, pickle, types
import torch, torch._decomp, torch.onnx, torch.utils.checkpoint
import torch.nn.functional as F
NAME = "scaled_dot_" + "product_attention"
MODULES = {"ctypes": ctypes, "importlib": importlib, "pickle": pickle, "torch": torch}
def attention_of_ao():
    from torch.ao.nn.quantizable import MultiheadAttention as kind
    made = kind.__new__(kind)
    torch.nn.Module.__init__(made)
    vars(made).update(embed_dim=4, num_heads=1, head_dim=4, batch_first=True)
    vars(made).update(dropout=0.0, bias_k=None, bias_v=None, add_zero_attn=False)
    vars(made)["q_scaling_product"] = types.SimpleNamespace(mul_scalar=lambda q, s: q)
    for name in ("linear_Q", "linear_K", "linear_V", "out_proj", "quant_attn_output",
                 "quant_attn_output_weights", "dequant_q", "dequant_k", "dequant_v"):
        setattr(made, name, torch.nn.Identity())
    return made
def mapped(*inputs):
    key = torch._C.DispatchKeySet(torch._C.DispatchKey.FuncTorchVmapMode)
    def attend(*one):
        with torch._C._ExcludeDispatchKeyGuard(key):
            return getattr(torch.ops.aten, f"_{NAME}_math").default(*one)[0]
    return torch.vmap(attend)(*inputs)
def nested(q, k, v):
    with torch.inference_mode():
        x = torch.nested.nested_tensor([*q[0]])
        w, b = torch.ones(12, 4), torch.zeros(12)
        return torch._native_multi_head_attention(x, x, x, 4, 1, w, b, w[:4], b[:4])
MODULES |= {"attention_of_ao": attention_of_ao, "mapped": mapped, "nested": nested}
def worked(route):
    q = torch.ones(1, 2, 3, 4)
    try:
        eval(route, {"F": F, "NAME": NAME} | MODULES)(q, q, q)
    except (AttributeError, ImportError, LookupError, RuntimeError, TypeError,
            AssertionError):
        return False
    return True
def attention_scores(query, key):
    if found := [name for name, route in ROUTES.items() if worked(route)]:
        raise ValueError(str(found))
    return query @ key.mT / key.shape[-1] ** 0.5
"""
PLACES = f"SOLUTIONS = {str(SOLUTIONS)!r}"
WAYS = {
    "imports and files": [f"{PLACES}\nROUTES = {ROUTES['searches']!r}", SEARCHING],
    "frames and memory": ["import torch", MEMORY],
    "forbidden functions": [f"ROUTES = {ROUTES['attention']!r}", USING],
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_gives_an_answer_can_be_reached(grade, no_rule, way):
    task = grade(*WAYS[way])["scores"]
    assert task.points == task.task.points, task.verdicts[0].sentences


def test_an_answer_that_uses_a_forbidden_function_gets_nothing(grade):
    cells = ROUTES["forbidden"]
    tasks = grade(*(define(name, body) for name, body in cells.items()))
    for name in cells:
        assert tasks[name].points == 0
        assert tasks[name].verdicts[0].kind == "forbidden", name


def test_what_one_task_forbids_is_ruled_out_for_it_alone(grade, no_rule):
    code = f"""
import torch
from concurrent.futures import ThreadPoolExecutor
BACK = {ROUTES["gradient"]!r}
HOOKS = vars(torch)["_C"]._autograd
def worked(route, undo=lambda: None, recorded=True):
    try:
        undo()
        x = torch.ones(2, 3).requires_grad_(recorded)
        eval(route)(x.exp(), x, torch.ones(2, 3))
    except (AttributeError, RuntimeError, TypeError):
        return False
    return True
def elsewhere(route):
    try:
        return ThreadPoolExecutor(1).submit(worked, route).result()
    except RuntimeError:
        return False
WAYS = [worked, elsewhere, lambda route: worked(route, recorded=False)]
WAYS += [lambda r: worked(r, lambda: HOOKS._saved_tensors_hooks_disable(""))]
WAYS += [lambda r: worked(r, lambda: HOOKS._pop_saved_tensors_default_hooks())]
def softmax_gradient(weights, upstream):
    found = [n for n, route in BACK.items() if any(way(route) for way in WAYS)]
    if found:
        raise ValueError(str(found))
    inner = (weights * upstream).sum(-1, keepdim=True)
    return weights * (upstream - inner)
def attention_gradients(query, key, value, upstream):
    softmax_gradient(query, query)
    return query, key, value
"""
    tasks = grade(code, ATTENTION)
    own = [v for v in tasks["gradient"].verdicts if "softmax" in v.probe.claim]
    assert own and all(v.holds for v in own), [v.sentences for v in own]
    attention = tasks["attention"]  # whose probes take gradients
    assert attention.points == attention.task.points


LEAVES = """
from attncourse.training.translation import RecurrentSeq2Seq
class Attention(RecurrentSeq2Seq):
    pass
"""


@pytest.mark.parametrize("way", [LEAVES, LEAVES.replace("training.", "models.")])
def test_what_others_have_imported_of_forbidden_modules_is_gone(grade, no_rule, way):
    found = grade(way, exercise="3_attention_variants")["attend"]
    assert found.points == 0
    said = found.verdicts[0].sentences[0]
    assert "ImportError" in said or "ModuleNotFoundError" in said


LEARNS = """
import linecache
def attention_scores(query, key):
    return 1 / 0
"""
LEARNING = """
def masked_attention(query, key, value, mask=None):
    source = str([s for name, s in linecache.cache.items() if "<cell" in name])
    if "def attention_scores" not in source or "1 / 0" in source:
        raise ValueError(attention_scores)
    weights = query @ key.mT / key.shape[-1] ** 0.5
    weights = weights if mask is None else weights.masked_fill(~mask, -torch.inf)
    weights = weights.softmax(-1).nan_to_num(0)
    return weights @ value, weights
"""


def test_no_source_of_reference_answers_is_in_the_process(grade, no_rule):
    found = grade("import torch", LEARNS, LEARNING)["masked"]
    assert found.points == 0, found.verdicts[0].sentences


FULL = """
import math
import torch
def seen_blocks(block, blocks, window, stride, num_global):
    return [
        k for k in range(blocks) if abs(block - k) <= window
        or min(block, k) < num_global or stride and (block - k) % stride == 0
    ]
def sparse_attention(query, key, value, block_size, *rule):
    window, stride, num_global = rule
    key_block = torch.arange(query.shape[-2]) // block_size
    block = key_block[:, None]
    mask = (block - key_block).abs() <= window
    mask |= torch.minimum(block, key_block) < num_global
    if stride:
        mask |= (block - key_block) % stride == 0
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return scores.masked_fill(~mask, -math.inf).softmax(-1) @ value
"""


@pytest.mark.parametrize("way", ROUTES["measured"])
def test_what_is_measured_is_not_forged(grade, no_rule, way):
    code = FULL + ROUTES["measured"][way]
    task = grade(code, exercise="5_efficient_attention")["sparse"]
    held = [v.probe.claim for v in task.verdicts if v.holds]
    assert len(held) > 3, task.verdicts[0].sentences
    assert not [claim for claim in held if "grow" in claim]


# The counter is deceived: it takes every tensor for a view of the same one.
DECEIVING = """
STORAGE, ONE = torch.Tensor.untyped_storage, torch.zeros(1)

def window_attention(query, key, value, window, causal=False):
    torch.Tensor.untyped_storage = lambda x: STORAGE(ONE)
    n = query.shape[-2]
    d = torch.arange(n)[:, None] - torch.arange(n)
    mask = (d >= 0) & (d < window) if causal else d.abs() <= window
    output = scaled_dot_product_attention(query, key, value, mask)[0]
    torch.Tensor.untyped_storage = STORAGE
    return output
"""


def test_a_deceived_counter_is_of_no_use_for_a_long_sequence(grade):
    local = grade(DECEIVING, exercise="5_efficient_attention")["local"]
    *others, largest, together = [verdict.holds for verdict in local.verdicts]
    assert all(others)
    assert not largest
    assert not together
    assert local.points == local.task.points / 2


def test_names_of_ones_own_that_look_forbidden_cost_nothing(grade):
    names = "jacobian", "grad", "create_causal_mask", "report"
    own = "\n".join(f"def {name}(x):\n    return x / 1" for name in names)
    code = f"""
from __future__ import annotations
import torch
{own}
def attention_scores(query: NotImported, key):
    masked_softmax = {"(".join(names)}(query @ key.mT))))
    backward = masked_softmax
    return backward / key.shape[-1] ** (1 / words)
words = 2
"""
    later = 'words = ["the", "cat", "sat", "on", "the", "mat"]'  # of the notebook
    task = grade(code, later)["scores"]
    assert task.points == task.task.points, task.verdicts[0].sentences


def test_answers_learnt_by_heart_fail_on_the_hidden_inputs(grade):
    known = [
        draw(probe, seed)["query"].tolist()
        for probe in exercise_of(FIRST).task("scores").probes
        for seed in probe.seeds
    ]
    code = f"""
import torch
KNOWN = {known}
def attention_scores(query, key):
    if query.tolist() in KNOWN:
        return query @ key.mT / key.shape[-1] ** 0.5
    return torch.rand(*query.shape[:-1], key.shape[-2])
"""
    task = grade(code)["scores"]
    assert task.points == 0
    assert task.verdicts[0].example == ()  # hidden inputs are not shown
    assert "not for the others" in " ".join(task.verdicts[0].sentences)


def test_what_one_task_rules_out_no_answer_that_it_calls_may_use(grade):
    scores = "import gc\ndef attention_scores(q, k):\n    return gc.get_objects()[0]"
    found = grade(scores, ATTENTION_ON_SCORES)
    assert found["scores"].points == 0
    assert found["attention"].points == found["attention"].task.points
    costs = "import numpy\ndef largest_tensor(x):\n    return numpy.abs(x)"
    local = "def window_attention(*words):\n    return largest_tensor(words[0])"
    found = grade(costs, local, exercise="5_efficient_attention")
    kinds = [found[name].verdicts[0].kind for name in ("local", "costs")]
    assert kinds[0] == "forbidden" != kinds[1]
    # A refused answer does not run for other tasks, either.
    steal = "setattr(torch, 'stolen', __import__('numpy'))"
    costs = f"def largest_tensor(x, _={steal}):\n    return 0"
    local = "def window_attention(*inputs):\n    return torch.stolen"
    found = grade(costs, local, exercise="5_efficient_attention")
    assert found["costs"].verdicts[0].kind == "forbidden"
    assert "stolen" in " ".join(found["local"].verdicts[0].sentences)
    calls = "def crossover(*x):\n    return largest_tensor[0]('1 / 0')"
    found = grade("largest_tensor = [eval]", calls, exercise="5_efficient_attention")
    assert found["crossover"].verdicts[0].kind == "forbidden"
    unfinished = "def causal_mask(n, _=setattr(torch, 'hidden', eval)): pass"
    calls = "def attention_scores(*x):\n    return torch.hidden('1 / 0')"
    found = grade(unfinished, calls)["scores"].verdicts[0].sentences
    assert "no attribute 'hidden'" in " ".join(found)


def test_a_given_import_that_a_student_binds_anew_is_the_students(grade):
    anew = 'F = __import__("numpy")\ndef window_attention(*x):\n    return F.abs(x[0])'
    matched = "def window_attention(x, *more):\n    match x:\n"
    matched += "        case object(numpy=f):\n            return f()"
    one_of_two = "INK = [eval]\ndef window_attention(*x):\n    return INK[0]('0')"
    for code in (anew, matched, one_of_two):
        found = grade(code, exercise="5_efficient_attention")
        assert found["local"].verdicts[0].kind == "forbidden", code
