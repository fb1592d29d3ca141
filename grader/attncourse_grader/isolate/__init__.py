"""Processes that run code which nobody trusts, and the layers that isolate them."""
