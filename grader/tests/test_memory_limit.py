"""What n² elements take is not to be had, even where they are not counted."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from attncourse_grader.grade import grading
from grader.tests.defining import SOLUTIONS

# The counter is deceived: it takes every tensor for a view of the same one.
ANSWER = """
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


@pytest.mark.usefixtures("forker")
def test_a_deceived_counter_is_of_no_use_for_a_long_sequence(tmp_path):
    notebook = new_notebook(cells=[new_code_cell(ANSWER)])
    notebook.metadata["attncourse"] = {"exercise": "5_efficient_attention"}
    path = tmp_path / "mallory.ipynb"
    nbformat.write(notebook, path)
    tasks = grading.grade_file(path, solutions=SOLUTIONS).tasks
    (local,) = (task for task in tasks if task.task.name == "local")
    *others, largest, together = [verdict.holds for verdict in local.verdicts]
    assert all(others)
    assert not largest
    assert not together
    assert local.points == local.task.points / 2
