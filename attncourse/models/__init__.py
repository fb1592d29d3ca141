"""Models that are put together from the layers."""
