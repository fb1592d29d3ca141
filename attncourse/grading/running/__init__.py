"""Run what a stranger wrote, behind walls, and let nbval compare what it prints.

`run` takes a composed notebook and returns what nbval said of each cell. Where forks
are to be had, `forking` asks the process of `forked`, which has imported everything
once, for two more: one in which pytest and nbval run with the plugin `recorder`, and
one that raises kernels (`raising`). A kernel is two halves that talk over a `channel`:
`kernel` beside nbval, which knows the expected outputs and runs nothing, and `inside`
with the student's code.

Around `inside` stand the walls of `sandbox` and `landlock`. Within, `oracle` has taken
the right answers out of the exercises, and `guard` watches: `watched` tells whether
something was changed, `ruled_out` puts locks on what an exercise forbids.
"""
