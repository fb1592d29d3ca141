"""What the widgets that show trained models have in common."""

import base64

from attncourse.widgets._base import HERE, CourseWidget, module_text

LANGUAGES = ("french", "german", "japanese")
ALONE = ("gpt", "copier_with", "copier_without", "reader_0", "reader_1")
FILES = {name: f"translation_{name}" for name in LANGUAGES} | {n: n for n in ALONE}
NAMES = {"french": "French", "german": "German", "japanese": "Japanese"}


def engine_text(*names):
    """Return the ES module of a widget behind the engine that runs its models.

    `names` are files of this folder, without ``.js``; the last is the widget's own.
    """
    own = [(HERE / f"{name}.js").read_text(encoding="utf8") for name in names]
    return "\n".join([module_text("transformer"), *own])


def weights_file(name):
    """Return the weights of a recorded model, as they are stored, in bytes.

    `name` is a translator's language, or the name of another recorded model.
    """
    return (HERE.parent / "recorded" / f"{FILES[name]}.safetensors").read_bytes()


def weights_script(name):
    """Return a script that hands the weights of a recorded model to the page.

    A script works where a page may not fetch files: opened from a folder.
    """
    coded = base64.b64encode(weights_file(name)).decode()
    return f'(window.attnWeights ??= {{}}).{name} = "{coded}";\n'


def pack(model):
    """Return a model's weights, a safetensors file in half precision, in base64."""
    from safetensors.torch import save

    half = {k: v.half().cpu().contiguous() for k, v in model.state_dict().items()}
    return base64.b64encode(save(half)).decode()


def as_parts(values, parts=1000):
    """Return numbers, nested in lists, as whole thousandths (or other parts)."""
    import numpy as np

    return np.rint(parts * np.asarray(values, dtype=np.float64)).astype(int).tolist()


class ModelWidget(CourseWidget):
    """A widget whose page asks for the weights of recorded models, when it is seen.

    A class sets ``_models`` to the names that `weights_file` knows them by.
    """

    _models = ()

    def __init__(self, **traits):
        super().__init__(**traits)
        self.on_msg(self._answer)

    def _answer(self, widget, content, buffers):
        name = content.get("language")
        if content.get("ask") == "weights" and name in self._models:
            self.send({"weights": name}, [weights_file(name)])
