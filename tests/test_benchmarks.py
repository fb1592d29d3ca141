import sys

from tests.loading import ROOT


def test_without_a_gpu_the_script_for_one_says_so(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import on_gpu

    monkeypatch.setattr(sys, "argv", ["on_gpu.py", "--record"])
    monkeypatch.setattr(on_gpu.torch.cuda, "is_available", lambda: False)
    on_gpu.main()
    assert "There is no GPU here" in capsys.readouterr().out
