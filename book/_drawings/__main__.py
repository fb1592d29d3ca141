"""Write the drawings into the package: ``make drawings``."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import architectures  # noqa: E402
import mechanisms  # noqa: E402
import trained  # noqa: E402

FOLDER = HERE.parent.parent / "attncourse" / "viz" / "drawings"


def files():
    """Return the text of each file of the drawings, by its name."""
    made, scenes = {}, vars(architectures) | vars(mechanisms) | vars(trained)
    titles = tomllib.loads((HERE / "titles.toml").read_text(encoding="utf8"))
    for name, texts in titles.items():
        for form, suffix in (("wide", ".svg"), ("narrow", ".narrow.svg")):
            made[name + suffix] = scenes[name](form == "narrow").svg(**texts, form=form)
    return made


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf8")
