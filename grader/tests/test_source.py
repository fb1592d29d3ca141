"""The statements of a cell, what they define and what they use."""

from dataclasses import replace

from attncourse_grader.hand_in import source
from attncourse_grader.hand_in.source import BadCell, statements_of
from grader.tests.conftest import NAMES


def texts(found):
    return [statement.text for statement in found]


def needed(name, code):
    return texts(source.needed({name}, source.without_calls(statements_of(code, 1))))


def test_each_statement_is_kept_as_written_and_a_line_ends_where_python_says():
    function = "@cache\ndef f(a):\n    # inside\n    return a  # last\n\n    # below"
    code = f"import math\n\n# why\nx = 1; y = 2\n\n{function}\n# outside"
    assert texts(statements_of(code, 1)) == ["import math", "x = 1", "y = 2", function]
    code = "x = '\f\x1c'  # \u2028 \x85\ndef f():\r\n    return x\ry = 2"
    assert [s.binds for s in statements_of(code, 1)] == [{"x"}, {"f"}, {"y"}]
    for statement in statements_of(code, 1):
        compile(statement.text, "cell", "exec")


def test_what_a_statement_binds_and_uses():
    for code, names in NAMES["binds"].items():
        (statement,) = statements_of(code, 1)
        assert statement.binds == {*names}, code
    (one,) = statements_of("def f(x): return F.softmax(g(x))", 1)
    assert one.uses == {"F", "g"}


def test_magics_are_no_syntax_errors_and_commands_to_nbval_are_disarmed():
    code = "%matplotlib inline\n!pip install x\nx = %time 3\nhelp?\ny = 4"
    found = statements_of(code, 1)
    assert "y = 4" in texts(found)
    for magic in ("%time ", "%%time\n", " \n%%time\n%%capture x\n"):
        assert [s for s in statements_of(f"{magic}z = 1", 1) if s.binds == {"z"}]
    (statement,) = statements_of("def f():\n    # NBVAL_SKIP\n    return 1", 1)
    assert "# NBVAL_SKIP" not in statement.text


def test_a_cell_that_is_no_python_or_that_nobody_typed_is_broken_and_says_where():
    many = "x = 1\n" * 100_000
    for code in ("def f(:", "x = = 1", "'open", "\0", "(" * 5000, many):
        found = statements_of(code, 7)
        assert isinstance(found, BadCell)
        assert found.cell == 7
        assert found.error


def test_only_what_is_needed_is_taken_and_in_its_order():
    for statements in NAMES["statements"]:
        expected = [s for s in statements if not s.startswith("other")]
        assert needed("f", "\n".join(statements)) == expected


def test_a_variable_of_a_later_cell_does_not_take_the_place_of_a_function():
    for later, kept in NAMES["later"].items():
        code = (
            f"def pairs(a):\n    return a\n\ndef f(x):\n    return pairs(x)\n\n{later}"
        )
        first, *others = needed("f", code)
        assert (later in others) == kept
        assert first.startswith("def pairs(a):\n    return a")


def test_many_names_in_many_statements_are_each_looked_at_once():
    class Counted(frozenset):
        def __iter__(self):
            asked.append(self)
            return super().__iter__()

    names, asked = [f"a{k}" for k in range(3000)], []
    code = f"{' = '.join(names)} = f({', '.join(names)})"
    statements = [s for cell in range(5) for s in statements_of(code, cell)]
    statements = [replace(s, uses=Counted(s.uses)) for s in statements]
    assert len(source.needed(["a0"], statements)) == len(asked) == 5
