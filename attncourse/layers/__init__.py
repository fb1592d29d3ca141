"""Attention, its masks and its positions, as functions and modules."""
