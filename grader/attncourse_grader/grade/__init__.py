"""Grading of one notebook: compose it, run it with nbval, compare, report."""
