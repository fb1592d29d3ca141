import argparse
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def option(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from measuring import add_record_option

    parser = argparse.ArgumentParser()
    add_record_option(parser)
    return lambda *given: parser.parse_args(given).record


def test_figures_are_kept_if_asked_for_also_beside_those_of_the_usual_machine(option):
    assert option() is None
    assert option("--record") == ""
    assert option("--record", "xeon") == "xeon"


@pytest.mark.parametrize("name", ["a/b", "../x", "two words", "x.json"])
def test_what_is_no_name_of_a_machine_is_refused(option, capsys, name):
    with pytest.raises(SystemExit):
        option("--record", name)
    assert "the name of a machine" in capsys.readouterr().err


def test_without_a_gpu_the_script_for_one_says_so(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(FOLDER))
    import on_gpu

    monkeypatch.setattr(sys, "argv", ["on_gpu.py", "--record"])
    monkeypatch.setattr(on_gpu.torch.cuda, "is_available", lambda: False)
    on_gpu.main()
    assert "There is no GPU here" in capsys.readouterr().out
