"""The grader: from the notebooks that were handed in to points and feedback.

`hand_in` finds notebooks and reads the answers out of them; `isolate` runs code that
nobody trusts; `grade` sets answers into the instructor's notebook, lets nbval compare
what they return with what the solution returns, and turns that into points; `records`
keeps grades and writes tables and pages. `batch` goes through all that was handed in,
`commands` has a function for each command of ``attncourse``.
"""
