"""The exercises: their probes, and the checks that the notebooks call.

    from attncourse.exercises import attempt, open_exercise

    exercise = open_exercise("attention_from_scratch")
    exercise.check("scores", attention_scores)

There is a module of probes for each exercise, named after its notebook without the
number. `probe` has the records, `drawing` draws inputs, `run` calls an answer,
`compare` and `relations` say what is wrong with it, `recorded` knows what the solutions
give, `forbidden` has the rule for what may be used, and `notebook` prints.
"""


def __getattr__(name):
    if name in ("attempt", "open_exercise"):
        from attncourse.exercises import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
