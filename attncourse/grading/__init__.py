"""Grading: from the notebooks that were handed in to points and feedback.

`submission` reads a notebook and finds the answers in it, `compose` sets them into the
instructor's notebook, `run` lets nbval decide, `grade` turns that into points, and
`report` writes them down. `release` makes the exercises from the solutions.
"""
