"""What an answer may not use: one rule for the notebook and the grader."""

import time
from types import SimpleNamespace

import pytest

from attncourse.exercises.forbidden import forbidden_uses
from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade import compose
from attncourse_grader.hand_in.source import statements_of
from tools.record_expected import SOLUTIONS

NAMES = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
    "torch.nn.Transformer*",
    "attncourse.layers",
    ".backward",
)
IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("F.scaled_dot_product_attention(q, k, v)", NAMES[0]),
        ("torch.nn.functional.scaled_dot_product_attention(q, k, v)", NAMES[0]),
        ("nn.functional.scaled_dot_product_attention(q, k, v)", NAMES[0]),
        ("attend = F.scaled_dot_product_attention\nattend(q, k, v)", NAMES[0]),
        ("G = F\nG.scaled_dot_product_attention(q, k, v)", NAMES[0]),
        ("from torch.nn.functional import scaled_dot_product_attention as f", NAMES[0]),
        ("getattr(F, 'scaled_dot_product_attention')(q, k, v)", NAMES[0]),
        ("getattr(F, 'scaled_dot' + '_product_attention')(q, k, v)", "getattr"),
        ("F.__dict__['scaled_dot' + '_product_attention']", ".__dict__"),
        ("vars(F)['scaled_dot' + '_product_attention']", "vars"),
        ("layer = nn.MultiheadAttention(8, 2)", NAMES[1]),
        ("class Mine(nn.TransformerEncoderLayer): pass", NAMES[2]),
        ("from attncourse.layers.core import masked_softmax", NAMES[3]),
        ("from attncourse.layers import core", NAMES[3]),
        ("from attncourse import scaled_dot_product_attention", NAMES[3]),
        ("import attncourse\nattncourse.MultiHeadAttention(8, 2)", NAMES[3]),
        ("loss.backward()", ".backward"),
        ("eval('F.scaled' + '_dot_product_attention')", "eval"),
        ("import importlib\nimportlib.import_module(name)", "importlib"),
        ("import sys\nsys.modules", "sys"),
        ("torch.ops.aten.scaled_dot_product_attention", "torch.ops"),
        ("torch._C._nn.scaled_dot_product_attention(q, k, v)", "torch._"),
        ("torch._decomp.decompositions.softmax_backward(q)", "torch._"),
        ("F.torch._C._nn.scaled_dot_product_attention(q, k, v)", "torch._"),
        ("import statistics\nstatistics.sys.modules", "sys.modules"),
        ("g = getattr\ng(F, 'scaled_dot' + '_product_attention')", "getattr"),
        ("from functools import reduce\nreduce(getattr, ['_C'], torch)", "getattr"),
        ("import operator as o\no.attrgetter('_C._nn')(torch)", "operator.attrgetter"),
        ("from operator import methodcaller as m\nm('back' + 'ward')(x)", "operator"),
        ("import pickle\npickle.loads(data)", "pickle"),
        ("torch.serialization.pickle.loads(data)", "pickle"),
        ("torch.onnx.ops.attention(q, k, v)", "torch.onnx"),
        ("torch.ao.nn.quantizable.MultiheadAttention(4, 2)", "torch.ao"),
        ("def f(t):\n    def g(eval): pass\n    return eval(t)", "eval"),
        ("def f():\n    from math import pi as exec\nexec(t)", "exec"),
        ("def f(getattr): pass\nreduce(getattr, names, torch)", "getattr"),
        ("vars()['__builtins__']", "vars`"),
        ("locals()['__builtins__']", "locals"),
        ("print.__self__.eval('1')", ".__self__"),
        ("__builtins__['eval']('1')", "__builtins__"),
        ("error.__traceback__.tb_frame.f_back", ".tb_frame"),
        ("from attncourse.exercises import run", "attncourse.exercises"),
        ("import attncourse\nattncourse.exercises.probe", "attncourse.exercises"),
        ("[torch][0].nn.MultiheadAttention(4, 2)", "torch as a value"),
        ("t, = torch,", "torch as a value"),
        ("def f(x, t=torch): pass", "torch as a value"),
        ("class A:\n    t = torch", "torch as a value"),
        ("t = torch if 1 else 0", "torch as a value"),
        ("[nn][0].functional", "torch.nn as a value"),
        ("F.torch.nn.MultiheadAttention(4, 2)", NAMES[1]),
        ("from torch import *\nnn.MultiheadAttention(4, 2)", NAMES[1]),
        ("getattr(loss, 'backward')()", ".backward"),
        ("getattr(loss, 'back' + 'ward')()", "getattr"),
        ("[torch.random][0].torch._C", ".torch"),
        ("m = [torch.random][0]\nm.torch.nn.MultiheadAttention(4, 2)", ".torch"),
        ("import warnings\nfor m in (warnings,): m.sys.modules", ".sys"),
        ("from torch.random import torch as t\nx = [t][0]", ".torch"),
        ("match m:\n    case object(torch=t): pass", ".torch"),
        ("[F][0]._VF", "._VF"),
        ("import timeit\ntimeit.timeit('x')", "timeit"),
        ("from code import interact\ninteract()", "code"),
        ("class A:\n    import timeit\nA.timeit.timeit('x')", "timeit"),
        ("from timeit import *\ntimeit('x')", "timeit"),
        ("import __main__\n__main__.timeit", "__main__"),
        ("import contextlib\ncontextlib.os", "contextlib.os"),
        ("import random\nrandom._os", "random._os"),
        ("import numpy\nnumpy.testing.runstring('x', {})", "numpy.testing"),
        ("f.__code__", ".__code__"),
        ("def f():\n    from ._C import x", "a relative import"),
        ("get_ipython().ev('1')", "get_ipython"),
        ("from IPython import get_ipython as g\ng().ev('1')", "IPython"),
        ("import typing\ntyping.get_type_hints(f)", "typing.get_type_hints"),
        ("from typing import List\nList['x'].__args__[0]._evaluate()", "._evaluate"),
        ("import sys\nsys.path_hooks", "sys.path*"),
        ("import sys\nsys.addaudithook(f)", "sys.addaudithook"),
        ("vars(type)['__sub' + 'classes__'](object)", "vars"),
        ("try: t.x\nexcept AttributeError as e: e.obj", ".obj"),
        ("import collections\ncollections._sys.modules", "._sys"),
        ("f().gi_code.replace(co_names=names)", ".gi_code"),
        (
            "def f():\n    import torch as t\n    def g():\n        import math as t\n"
            "    t._C",
            "torch._",
        ),
        (
            "import torch as t\ndef f():\n    t.ops\n    from torch import nn as t",
            "one name for two modules",
        ),
        ("import torch as _A__t\nclass A:\n    x = __t._decomp", "torch._"),
        ("class A:\n    global __t\n    import torch as __t\n_A__t._C", "torch._"),
        ("().__class__.__mro__[-1].__subclasses__()", ".__subclasses__"),
        (
            "import timeit as t\ndef f(): t.timeit(x)\ndef g():\n    import torch as t",
            "one name for two modules",
        ),
        ("import functools\nfunctools.singledispatch(f)", "functools.singledispatch"),
        ("import types\ntypes.CodeType(0)", "types.CodeType"),
        ("class A:\n    __annotations__ = {'exec(x)': int}", "__annotations__"),
        ("A.__annotations__ = {'exec(x)': int}", ".__annotations__"),
        ("import statistics\nstatistics.random._os", "statistics.random._os"),
    ],
)
def test_a_use_is_found(source, name):
    found = forbidden_uses(IMPORTS + source, NAMES)
    assert found
    assert any(f"`{name}" in sentence for sentence in found)


@pytest.mark.parametrize(
    "source",
    [
        "grad = q @ k\nreturned = grad",
        "def scaled_dot_product_attention(q, k, v):\n    return q @ k.mT @ v",
        "class Mine(nn.Module):\n    def self_attention(self, x):\n        return x",
        "class Mine(nn.Module):\n    def f(self):\n        return self.layers",
        "from __future__ import annotations",
        "layers = [nn.Linear(2, 2)]\nlayers[0](x)",
        "text = 'F.scaled_dot_product_attention'",
        "import sys\nprint(sys.maxsize, file=sys.stderr)",
        "torch.compile(f)\nimport re\nre.compile('x')",
        "vars = 3\nx = vars",
        "torch.__version__",
        "from attncourse.exercises import attempt, open_exercise",
        "from attncourse.exercises.provided.attention_variants import T975",
        "model.eval()\ngetattr(model, 'heads')",
        "class A:\n    def f(self):\n        from torch import nn\n"
        "        return torch.nn.Linear, torch.nn.functional.relu",
        "import sys\nsys.platform\nfrom typing import List\n"
        "class A:\n    from math import pi",
        "def f(nn):\n    return [nn for n in nn], lambda F: [F]",
        "def f(x):\n    B, T, F = x.shape\n    return [x + F for b in range(F)]",
        "relu = F.relu\nkind = torch.float32\n[relu, kind, nn.Linear]",
        "def f(x, reduce=torch.sum): return reduce(x)",
        "F.softmax(x, -1)\nnn.functional.dropout(x)",
        "from math import *\nimport os, math, code, torch.library\nsqrt(pi)",
        "class A(nn.Module):\n    def f(self):\n        return self._x._replace()",
        "from _operator import add\nadd.__name__",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()",
        "x.select(0, 1).copy().inspect\nself.token.code\nimport math, functools",
    ],
)
def test_what_only_looks_like_a_use_is_none(source):
    assert forbidden_uses(IMPORTS + source, NAMES) == []


@pytest.mark.parametrize(
    "source",
    [
        f"torch{'.a' * 900}\n" * 90,
        f"from a{'.a' * 20_000} import {', '.join(f'a{i}' for i in range(20_000))}",
    ],
)
def test_long_names_take_no_time(source):
    start = time.process_time()
    forbidden_uses(IMPORTS + source, NAMES)
    assert time.process_time() - start < 2


def test_nothing_is_ruled_out_where_nothing_is_named():
    assert forbidden_uses("eval('1')", ()) == []


def test_a_source_that_is_no_python_raises():
    with pytest.raises(SyntaxError):
        forbidden_uses("def f(:", NAMES)


@pytest.mark.parametrize(
    "source",
    [
        "torch = None\ndef causal_mask(n): return torch._decomp",
        "def causal_mask(n, t=torch): return t._decomp\ntorch = None",
        "trained = None\ndef train(*_): torch._C\n"
        "def causal_mask(n): return trained(n)",
        "def causal_mask(n): return double(n)\ndouble, x = (lambda n: torch._C), 1\n"
        "def double(n): return n",
        "import timeit as attention_scores\nhelp = attention_scores\n"
        "def causal_mask(n): return help.timeit()",
    ],
)
def test_all_is_read_that_may_run(source):
    template = compose.Template(exercise_of("1_attention_from_scratch"), SOLUTIONS)
    task = template.exercise.task("masks")
    names, others = template.exercise.rule_of(task)
    found = template.own_code(task, statements_of(source, 1), others, every=True)
    assert forbidden_uses(found, names)


def test_a_call_of_what_is_given_does_not_run_where_it_was_not_read():
    template = compose.Template(exercise_of("1_attention_from_scratch"), SOLUTIONS)
    source = "torch.__setattr__('z', 1)\ndef causal_mask(n): return torch.z"
    own = template.undisturbed(statements_of(source, 1))
    found = SimpleNamespace(exercise=template.exercise, statements=own, broken={})
    code = compose.code_for(template.exercise.task("masks"), found, template)
    assert code == "def causal_mask(n): return torch.z"


def test_what_is_given_and_forbidden_does_not_run_for_a_word_in_a_comment():
    template = compose.Template(exercise_of("5_efficient_attention"), SOLUTIONS)
    given, _ = compose.definitions(template, {"local": "# count_elements: it fits"})
    assert "memory" not in given.source
