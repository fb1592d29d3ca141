"""Settings of pytest for the whole repository."""


def pytest_collection_modifyitems(items):
    """Let nbval skip SVG figures, as it skips PNG, and the HTML forms of drawings.

    No two figures are identical; a drawing is compared by the name that it prints.
    """
    for item in items:
        skipped = getattr(item.parent, "skip_compare", None)
        if skipped is not None and "image/svg+xml" not in skipped:
            item.parent.skip_compare = (*skipped, "image/svg+xml", "text/html")
