"""Drawings of the architectures, made by ``book/_drawings`` and shown as inline SVG."""

from pathlib import Path

from attncourse._checks import one_of

HERE = Path(__file__).resolve().parent


class Drawing:
    """A drawing that Jupyter, Colab and the page show, in light and dark.

    Parameters
    ----------
    name : str
        Name of the drawing, which has a wide and a narrow form.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        """Return what is printed where no drawing can be shown."""
        return f"drawing({self.name!r})"

    def _repr_html_(self):
        parts = ("drawings.css", f"{self.name}.svg", f"{self.name}.narrow.svg")
        style, *images = ((HERE / part).read_text(encoding="utf8") for part in parts)
        style = f"<style>{style}</style>"
        return f'<figure class="attn-drawing">{style}{"".join(images)}</figure>'


def drawing(name: str) -> Drawing:
    """Show a drawing of the course, such as ``drawing("head_split")``.

    Parameters
    ----------
    name : str
        Name of the drawing.

    Returns
    -------
    Drawing
        Shown by a notebook as the last expression of a cell.

    Raises
    ------
    ValueError
        If there is no drawing of that name.
    """
    known = sorted(p.stem for p in HERE.glob("*.svg") if "." not in p.stem)
    return Drawing(one_of("name", name, known))
