"""What all widgets have in common: their text, their style and their still picture."""

from pathlib import Path

try:
    import anywidget
except ImportError as error:
    raise ImportError(
        "The widgets need the package anywidget, which is not installed. Install it "
        "with: pip install 'attncourse[widgets]'"
    ) from error

HERE = Path(__file__).resolve().parent


def module_text(*names: str) -> str:
    """Return an ES module: the shared helpers, then the files called ``name.js``."""
    return "\n".join(
        (HERE / f"{part}.js").read_text(encoding="utf8") for part in ("shared", *names)
    )


def style_text(*names: str) -> str:
    """Return the style sheet of all widgets, then those called ``name.css``."""
    return "\n".join(
        (HERE / f"{name}.css").read_text(encoding="utf8")
        for name in ("widgets", *names)
    )


class CourseWidget(anywidget.AnyWidget):
    """A widget of the course.

    A class sets ``_esm`` to `module_text`, ``_css`` to `style_text`, and defines
    `still`. Where no widget can run, in print and without JavaScript, the still
    picture is shown in its place.
    """

    def still(self) -> str:
        """Return a picture of the widget as it stands: an SVG image with a title."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the name of the class, which is the same in every run."""
        return f"{type(self).__name__}()"

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "image/svg+xml": self.still()}, metadata
