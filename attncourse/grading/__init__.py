"""Grading: from the notebooks that were handed in to points and feedback.

Here is what grades one notebook: `submission` reads it and finds the answers (`source`
tells apart the statements of a cell), `compose` sets them into the instructor's
notebook, `grade` turns what nbval says of that into points, and `report` writes them
down. `release` makes the exercises from the solutions; `safe_text` makes text of
strangers harmless, for everybody.

`running` runs what a student wrote, behind walls. `records` keeps grades and writes
tables and pages from them. `course` goes through all that was handed in. Imports run
one way: course, records, this folder, running.
"""
