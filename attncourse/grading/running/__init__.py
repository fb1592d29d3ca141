"""Run what a stranger wrote, behind walls, and let nbval compare what it prints.

`run` takes a composed notebook and returns what nbval said of each cell. Where forks
are to be had, `forking` asks the process of `forked`, which has imported PyTorch once
(`uncompiled`: without its compiler), for a fork to work in. There `comparing` calls
pytest and nbval with the plugin `recorder`; what such a fork has worked out for others,
too, is `remembered`. A second process, forked before anything is known, raises kernels
(`raising`). A kernel is two halves that talk over a `channel`: `kernel` beside nbval,
which knows the expected outputs and runs nothing, and `inside` with the student's code.

Around `inside` stand the walls of `sandbox` and `landlock`. Within, `oracle` has taken
the right answers out of the exercises, and `guard` watches: `watched` tells whether
something was changed, `ruled_out` puts locks on what an exercise forbids.
Checks are handed `asked` answers, which return nothing of a kind of their own.
"""
