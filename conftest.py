"""Settings of pytest for the whole repository."""


def pytest_collection_modifyitems(items):
    """Let nbval skip SVG figures, as it skips PNG: no two drawings are identical."""
    for item in items:
        skipped = getattr(item.parent, "skip_compare", None)
        if skipped is not None and "image/svg+xml" not in skipped:
            item.parent.skip_compare = (*skipped, "image/svg+xml")
