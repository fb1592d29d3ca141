"""Run a course: what the commands of ``attncourse`` do.

`commands` has one function for each of them. ``grade`` is `batch`: `collect` finds the
notebooks, in folders and `archives`, `plan` says which of them are to be graded anew,
`locally` grades them on this machine and `cluster` on others. `manifest` notes what was
released with which secret, `nbgrader_format` hands exercises to nbgrader, and `doctor`
says what this machine lacks.
"""
