"""The workflows fit their schema, and each step runs what the tests run too."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml

from tests.loading import ROOT, load

SCHEMA = "vendor.github-workflows"
ACTIONS = re.compile(r"(actions/[a-z-]+|pypa/gh-action-pypi-publish)@[0-9a-f]{40}")
RIGHTS = {
    ("publish", "branch"): {"contents": "write"},
    ("publish", "pages"): {"pages": "write", "id-token": "write"},
    ("release", "pypi"): {"id-token": "write"},
    ("nightly", "issue"): {"issues": "write"},
}


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf8"))


PATHS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.stem: read(path) for path in PATHS}


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def targets():
    text = (ROOT / "Makefile").read_text(encoding="utf8")
    return set(re.findall(r"^([a-z-]+):.*## ", text, re.M))


def test_they_fit_the_schema_of_workflows():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMA]
    done = subprocess.run([*command, *PATHS], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_step_is_a_target_of_make_or_the_script_of_ci(name):
    for step in steps_of(WORKFLOWS[name]):
        if "uses" in step:  # by commit; PyPI's alone is not GitHub's
            assert ACTIONS.fullmatch(step["uses"])
            continue
        if "gh issue" in step["run"]:
            continue
        command = shlex.split(step["run"])
        assert command == [".ci/run"] or command[0] == "make"
        assert set(command[1:]) <= targets()
        assert "${{" not in step["run"]


def test_what_the_steps_run_is_there():
    steps = [step for workflow in WORKFLOWS.values() for step in steps_of(workflow)]
    ran = {step["run"] for step in steps if "run" in step}
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf8")
    for command in filter(lambda command: command.startswith("make"), ran):
        dry = ["make", "-n", *shlex.split(command)[1:]]
        done = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for tool in re.findall(r"tools/[\w.]+", done.stdout):
            assert (ROOT / tool).is_file()


def test_a_job_that_may_write_runs_little_and_may_do_nothing_else():
    for stem, workflow in WORKFLOWS.items():
        assert workflow["permissions"] in ({}, {"contents": "read"})
        for name, job in workflow["jobs"].items():
            assert job["timeout-minutes"] <= 120
            may = job.get("permissions", workflow["permissions"])
            assert may == RIGHTS.get((stem, name), {"contents": "read"})
            if may != {"contents": "read"}:
                assert ".ci/run" not in [step.get("run") for step in job["steps"]]


def test_no_workflow_runs_code_of_a_pull_request_with_rights():
    starts = {name: workflow[True] for name, workflow in WORKFLOWS.items()}  # its "on"
    assert not [name for name, on in starts.items() if "pull_request_target" in on]
    assert "pull_request" in starts["checks"]


def test_results_are_cached_by_notebooks_package_and_environment():
    for name in ("publish", "checks"):
        steps = steps_of(WORKFLOWS[name])
        (cache,) = [s for s in steps if s.get("uses", "").startswith("actions/cache@")]
        assert cache["with"]["path"] == ".cache/notebooks"
        for part in ("chapters/*.ipynb", "attncourse/**", "requirements.txt"):
            assert f"'{part}'" in cache["with"]["key"]
    build = load("tools/build.py")
    assert build.CACHES == ROOT / ".cache" / "notebooks"


def test_results_of_another_package_or_environment_are_never_taken(
    tmp_path, monkeypatch
):
    build = load("tools/build.py")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    (tmp_path / "attncourse").mkdir()
    module, pins = tmp_path / "attncourse" / "data.py", tmp_path / "requirements.txt"
    module.write_text("A = 1\n")
    pins.write_text("torch==1\n")
    keys = [build.environment_key()]
    module.write_text("A = 2\n")
    keys.append(build.environment_key())
    pins.write_text("torch==2\n")
    keys.append(build.environment_key())
    monkeypatch.setattr(build.platform, "python_version", lambda: "3.99.0")
    keys.append(build.environment_key())
    assert len(set(keys)) == 4
    of_solutions = build.environment_key(left_out=())
    (tmp_path / "attncourse" / "exercises").mkdir()
    (tmp_path / "attncourse" / "exercises" / "run.py").touch()
    assert build.environment_key() == keys[-1]
    assert build.environment_key(left_out=()) != of_solutions


def test_the_site_is_tested_before_it_is_published():
    jobs = WORKFLOWS["publish"]["jobs"]
    assert all(jobs[name]["needs"] == "build" for name in ("branch", "pages"))
    steps = jobs["build"]["steps"]
    order = [step.get("run") or step["uses"].split("@")[0] for step in steps]
    wanted = [".ci/run", "actions/upload-artifact", "actions/upload-pages-artifact"]
    assert [name for name in order if name in wanted] == wanted
    build = load("tools/build.py")
    for step in steps_of(WORKFLOWS["publish"]):
        if "-artifact@" in step.get("uses", ""):
            assert ROOT / step["with"]["path"] == build.BUILD / "html"


# Other sets of packages -------------------------------------------------------------


@pytest.fixture
def run_set(tmp_path):
    """Return a function that tries a set with a Python that only says what it got."""
    stub = """#!/bin/sh
case "$2 $3" in
  "venv --clear") mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
  "pip install") cat "$6" "$8"; ls "${9%[*}" ;;
esac
echo "$@"
"""
    for name in ("attncourse", "tools", "bin"):
        (tmp_path / name).mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.in"):
        shutil.copy(ROOT / name, tmp_path)
    script = shutil.copy(ROOT / "tools" / "package_sets.sh", tmp_path / "tools")
    python = tmp_path / "bin" / "python3"
    python.write_text(stub)
    python.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"

    def run(name, **variables):
        return subprocess.run(
            ["bash", script, name],
            env={**os.environ, "PATH": path, **variables},
            capture_output=True,
            text=True,
        )

    return run


def test_the_newest_set_has_every_name_and_no_version(run_set):
    lines = run_set("newest").stdout.splitlines()
    text = (ROOT / "requirements.in").read_text(encoding="utf8")
    names = [re.split("[<=>[]", x)[0] for x in text.splitlines() if x and x[0] != "#"]
    names[names.index("jupyter-book")] += "<2"
    assert set(names) <= set(lines)
    assert {"attncourse", "pyproject.toml"} <= set(lines)
    assert lines[-1] == "-m pytest --nbval chapters -q"


FREEZE = """# Do not modify
anywidget==0.9.21
google-colab @ file:///colabtools/dist/google_colab-1.0.0.tar.gz
torch @ https://host.org/whl/cu126/torch-2.9.0%2Bcu126-cp312-cp312-linux_x86_64.whl
torchvision==0.24.0+cpu
jupyter_client==7.4.9
"""


def test_colab_s_list_becomes_constraints(run_set, tmp_path):
    (tmp_path / "freeze.txt").write_text(FREEZE)
    lines = run_set("colab", COLAB_PACKAGES=str(tmp_path / "freeze.txt")).stdout
    limits = "anywidget==0.9.21 torch==2.9.0 torchvision==0.24.0 jupyter_client==7.4.9"
    assert "\n".join([*limits.split(), "nbval\n"]) in lines
    # what the first cell of a chapter installs
    assert "[chapters]\n" in lines
    cell = (ROOT / "tools" / "install_cell.txt").read_text()
    assert "attncourse[chapters]" in cell


def test_a_list_that_is_none_is_a_sentence(run_set, tmp_path):
    (tmp_path / "page.html").write_text("<html>Not found</html>")
    done = run_set("colab", COLAB_PACKAGES=str(tmp_path / "page.html"))
    assert done.returncode == 1
    assert "make colab COLAB_PACKAGES=file" in done.stderr


# The environment of Binder and the container for grading -----------------------------


def project(path):
    return tomllib.loads((ROOT / path).read_text(encoding="utf8"))["project"]


PACKAGE = project("pyproject.toml")
EXTRAS = PACKAGE["optional-dependencies"]


def test_binder_installs_the_package_with_extras_that_there_are():
    script = (ROOT / ".binder" / "postBuild").read_text(encoding="utf8")
    assert os.access(ROOT / ".binder" / "postBuild", os.X_OK)
    named = re.search(r'"\.\[([a-z,]+)\]"', script)[1].split(",")
    assert set(named) <= set(EXTRAS)
    environment = read(ROOT / ".binder" / "environment.yml")
    assert "pytorch-cpu" in environment["dependencies"]


def test_the_grader_asks_for_what_the_solutions_import():
    asked = project("grader/pyproject.toml")["dependencies"]
    assert "attncourse[chapters]" in asked
    there = {re.split(r"[<>=\[]", x)[0] for x in asked + EXTRAS["chapters"]}
    wanted = set()
    for path in (ROOT / "solutions").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf8"))["cells"]
        sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        for code in sources:
            wanted |= set(re.findall(r"^(?:import|from) ([a-z_]+)", code, re.M))
    own = set(sys.stdlib_module_names) | {"attncourse"}
    assert wanted - own <= there | {"numpy"}
    assert wanted - own


def test_the_container_copies_what_there_is_and_nothing_secret():
    text = (ROOT / "tools" / "grading.Containerfile").read_text(encoding="utf8")
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf8").splitlines()
    lines = re.findall(r"^COPY (.+) \S+$", text, re.M)
    copied = " ".join(lines).split()
    assert ignored[1] == "*"
    assert sorted(copied) == sorted(x[1:] for x in ignored if x.startswith("!"))
    assert all((ROOT / name).exists() for name in copied)
    assert set(re.search(r'"/src\[([a-z,]+)\]"', text)[1].split(",")) <= set(EXTRAS)
    command = json.loads(re.search(r"^ENTRYPOINT (.+)$", text, re.M)[1])[0]
    assert command in PACKAGE["scripts"]
