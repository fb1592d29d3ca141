"""A plugin of pytest that keeps what nbval found out about each task."""

import pytest
from nbval.plugin import NbCellError

from attncourse_grader.grade.compose import blocks_in
from attncourse_grader.hand_in.submission import SolutionBroken
from attncourse_grader.isolate.student import ProcessEnded
from attncourse_grader.safe_text import plain

LONGEST_KEPT = 4000  # characters of an error
OF_ANSWERS = (ProcessEnded, NbCellError)  # the latter if an output differs, or raised


class Recorder:
    """Keep what nbval says of each cell."""

    def __init__(self, name: str = ""):
        self.tasks: dict[str, dict] = {}
        self.name, self.fault = name, None  # of the solution; what is no answer's fault

    def pytest_collection_finish(self, session):
        """Remove the notebook, which holds the expected outputs, from the disk."""
        for item in session.items:
            item.path.unlink(missing_ok=True)
            item.format_output_compare = lambda *_: None  # a picture nobody reads

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item):
        """Tell the kernel which cell comes; leave out what cannot be checked."""
        mark = item.cell.metadata.get("attncourse", {})
        said = self.tasks.get(mark.get("task"), {})
        if said.get("ended") or said.get("error"):
            pytest.skip("the answer could not be defined")
        item.parent.kernel.mark = mark

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Keep the outcome of a cell."""
        report = (yield).get_result()
        if report.when != "call" or report.skipped:
            return
        item.parent.timed_out = False  # nbval would run no other cell
        mark, (error, ended) = item.parent.kernel.mark, outcome_of(item, call)
        if call.excinfo and not error and not call.excinfo.errisinstance(OF_ANSWERS):
            self.fault = call.excinfo.value
        elif "answer" in mark:
            said = {"passed": False, "failing": [], "cases": {}}
            self.tasks[mark["answer"]] = {"error": error, "ended": ended, **said}
        elif "task" in mark:
            said = self.tasks[mark["task"]]
            passed = report.passed and not hasattr(report, "wasxfail")
            said |= {"error": error, "ended": ended, "passed": passed}
            said["failing"] = [] if passed else _differing(item)
            said["cases"] = item.parent.kernel.cases.get(mark["task"], {})
        elif error:  # if the process ended: the time that a submission has is over
            says = f"the given cells of {self.name} do not run: {error}"
            self.fault = SolutionBroken(says)
        item.session.shouldstop = str(self.fault or "")


def outcome_of(item, call) -> tuple[str, bool]:
    """Return what a cell raised, "" if nothing, and whether the process ended."""
    errors = [o for o in item.test_outputs or [] if o.get("output_type") == "error"]
    if errors:
        said = f"{errors[0].get('ename')}: {errors[0].get('evalue')}"
        return plain(said[:LONGEST_KEPT]).removesuffix(": "), False
    return "", bool(call.excinfo and call.excinfo.errisinstance(ProcessEnded))


def _differing(item) -> list[int]:
    """Return the places of the probes whose output is not what is stored."""
    both = item.cell.outputs, item.test_outputs
    texts = ["".join(o.get("text", "") for o in outputs or []) for outputs in both]
    stored, printed = map(blocks_in, texts)
    return sorted({k[0] for k in stored if printed.get(k) != stored[k]})
