"""The checks of the five exercises: what they ask, and what they say to wrong answers.

A notebook of the course imports the exercise that it is about::

    from attncourse.exercises import from_scratch

    from_scratch.check("scores", attention_scores)
"""

from contextlib import contextmanager
from importlib import import_module

# The module of each exercise, by the name of its notebook.
MODULES = {
    "1_attention_from_scratch": "from_scratch",
    "2_attention_patterns": "patterns",
    "3_attention_variants": "variants",
    "4_relative_positions": "relative",
    "5_efficient_attention": "efficient",
}

__all__ = ["MODULES", "attempt", "exercise_of", *MODULES.values()]


def exercise_of(notebook):
    """Return the exercise of a notebook.

    Parameters
    ----------
    notebook : str
        The name of the file without its ending.

    Raises
    ------
    ValueError
        If the course has no such exercise.
    """
    if notebook not in MODULES:
        raise ValueError(
            f"there is no exercise {notebook!r}. The exercises are: "
            f"{', '.join(MODULES)}."
        )
    return import_module(f"{__name__}.{MODULES[notebook]}").EXERCISE


@contextmanager
def attempt():
    """Run a block that uses an answer; say so quietly where it is not done yet."""
    try:
        yield
    except NotImplementedError as error:
        print(f"Not done yet: {error}" if str(error) else "Not done yet.")
