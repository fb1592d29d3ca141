"""What the package promises as a whole: names, imports, docstrings."""

import ast
import inspect
import os
import re
import sys
from pathlib import Path

import pytest

import attncourse
import attncourse.data as attncourse_data
import attncourse.viz as attncourse_viz
from tests.loading import python

PACKAGE = Path(attncourse.__file__).parent
DOCUMENTED_NAMES = """
softmax self_attention multi_head_attention scaled_dot_product_attention
AdditiveAttention MultiplicativeAttention SelfAttention MultiHeadAttention
CausalSelfAttention create_causal_mask create_padding_mask SinusoidalPositionalEncoding
LearnedPositionalEncoding AttentionSeq2Seq Transformer TransformerLayer
TranslationTransformer QATransformer SelfAttentionSummarizer
"""


@pytest.mark.parametrize("name", DOCUMENTED_NAMES.split())
def test_names_that_readers_know_are_importable(name):
    assert name in attncourse.__all__
    assert getattr(attncourse, name).__doc__


@pytest.mark.parametrize("package", [attncourse, attncourse_data, attncourse_viz])
def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = package.nonsense
    assert set(package.__all__) <= set(dir(package))


def test_importing_the_package_loads_few_modules_and_nothing_heavy():
    loaded = python(
        "import sys; before = set(sys.modules); import attncourse;"
        "print(*set(sys.modules) - before)"
    ).split()
    roots = {name.split(".")[0] for name in loaded} - {"attncourse"}
    assert roots <= sys.stdlib_module_names
    assert len(loaded) <= 40  # a count, not a time: the same on a busy machine


def test_nothing_in_the_current_folder_takes_the_place_of_a_package():
    safe = {**os.environ, "PYTHONSAFEPATH": "1"}
    found = python("import sys; print(*sys.path, sep='\\n')", env=safe).split("\n")
    assert all(Path(place).is_absolute() for place in found), found


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("x = np.eye(3); print(attncourse.self_attention(x, x, x, x)[1].sum())", "3.0"),
        ("pair = data.translation_pairs(1)[0]; print(len(pair.antecedents))", "0"),
        ("print(len(data.qa_examples(2)), len(data.news_articles(2)))", "2 2"),
        ("print(len(data.Vocabulary.build([['a', 'b']])), data.read_squad)", "6 <func"),
    ],
)
def test_numpy_and_data_work_without_torch(code, printed):
    missing = "import sys; sys.modules['torch'] = sys.modules['matplotlib'] = None"
    names = "import attncourse, numpy as np; from attncourse import data"
    assert python("\n".join([missing, names, code])).startswith(printed)


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def public_objects():
    """Yield every public function and class that the package defines."""
    import importlib

    for path in modules():
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        module = importlib.import_module(name.removesuffix(".__init__"))
        for key, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__
            own = own and getattr(value, "__name__", "") == key
            if own and not key.startswith("_") and callable(value):
                yield f"{module.__name__}.{key}", value


def parameters_of(thing):
    found = inspect.signature(thing).parameters.values()
    collecting = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in found if p.name != "self" and p.kind not in collecting]


@pytest.mark.parametrize(("name", "thing"), list(public_objects()))
def test_docstrings_describe_every_parameter_or_none(name, thing):
    doc = inspect.getdoc(thing)
    assert doc, f"{name} has no docstring"
    if "Parameters\n-----" in doc:
        section = re.split(r"\n\w+\n---", doc.split("Parameters\n---")[1])[0]
        missing = [p for p in parameters_of(thing) if p not in section]
        assert not missing, f"the docstring of {name} does not describe {missing}"


EXPORTED = [
    (f"{package.__name__}.{name}", getattr(package, name))
    for package in (attncourse, attncourse_data, attncourse_viz)
    for name in package.__all__
    if callable(getattr(package, name))
]


@pytest.mark.parametrize(("name", "thing"), EXPORTED)
def test_exported_names_say_what_they_take(name, thing):
    if parameters_of(thing):
        assert "Parameters\n-----" in inspect.getdoc(thing)


# Modules, by how their names begin, that readers are not meant to call.
INTERNAL = ("_", "checkpoint_names", "cli", "exercises", "ids", "languages")
INTERNAL += ("reporting", "stories", "writing")
SHOWN = {"GPTBlock.forward"}  # chapter 10 prints it: as short as it can be


def public_functions(body, owner=""):
    """Yield the name and the syntax of each function and method without underscore."""
    for node in body:
        public = not node.name.startswith("_") or node.name == "__init__"
        if public and isinstance(node, ast.FunctionDef):
            yield owner + node.name, node
        elif public:
            inside = [n for n in node.body if isinstance(n, ast.FunctionDef)]
            yield from public_functions(inside, f"{node.name}.")


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_public_signatures_have_types(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if path.name != "__init__.py" and any(p.startswith(INTERNAL) for p in parts):
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    for name, function in public_functions(defined):
        if name in SHOWN:
            continue
        arguments = [*function.args.args, *function.args.kwonlyargs]
        bare = [a.arg for a in arguments if a.annotation is None]
        assert set(bare) <= {"self", "cls", "ctx"}, f"{name} has bare {bare}"
        assert function.returns is not None, f"{name} does not say what it returns"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_are_short_enough_to_read(path):
    probes = path.parent.name == "exercises"  # texts for students, mostly
    most = 700 if probes else 400
    assert len(path.read_text(encoding="utf-8").splitlines()) <= most


def test_chapters_do_without_what_their_results_are_not_keyed_on():
    root = PACKAGE.parent
    build = (root / "tools" / "build.py").read_text(encoding="utf-8")
    names = re.search(r"NOT_FOR_CHAPTERS = (\(.*?\))", build)[1]
    assert set(ast.literal_eval(names)) == {"exercises", "cli.py"}
    for chapter in (root / "chapters").glob("*.ipynb"):
        text = chapter.read_text(encoding="utf-8")
        for name in ast.literal_eval(names):
            part = name.removesuffix(".py")
            assert f"attncourse.{part}" not in text
            assert f"attncourse import {part}" not in text
