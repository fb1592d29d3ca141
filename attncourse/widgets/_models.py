"""What the widgets that show trained models have in common."""

import base64

from attncourse.widgets._base import HERE, module_text

LANGUAGES = ("french", "german", "japanese")
FILES = {**{name: f"translation_{name}" for name in LANGUAGES}, "gpt": "gpt"}
NAMES = {"french": "French", "german": "German", "japanese": "Japanese"}


def engine_text(*names):
    """Return the ES module of a widget behind the engine that runs its models.

    Parameters
    ----------
    *names : str
        Names of files in this folder, without ``.js``; the last is the widget's own.

    Returns
    -------
    str
    """
    own = [(HERE / f"{name}.js").read_text(encoding="utf8") for name in names]
    return "\n".join([module_text("transformer"), *own])


def weights_file(name):
    """Return the weights of a recorded model, as they are stored.

    Parameters
    ----------
    name : str
        A translator's language, or "gpt".

    Returns
    -------
    bytes
        A safetensors file in half precision or 8 bits.
    """
    return (HERE.parent / "recorded" / f"{FILES[name]}.safetensors").read_bytes()


def weights_script(name):
    """Return a script that hands the weights of a recorded model to the page.

    A script works where a page may not fetch files: opened from a folder.

    Parameters
    ----------
    name : str
        As for `weights_file`.

    Returns
    -------
    str
    """
    coded = base64.b64encode(weights_file(name)).decode()
    return f'(window.attnWeights ??= {{}}).{name} = "{coded}";\n'


def pack(model):
    """Return a model's weights as a safetensors file in half precision, in base64.

    Parameters
    ----------
    model : torch.nn.Module

    Returns
    -------
    str
    """
    from safetensors.torch import save

    half = {k: v.half().cpu().contiguous() for k, v in model.state_dict().items()}
    return base64.b64encode(save(half)).decode()


def as_parts(values, parts=1000):
    """Return numbers as whole thousandths, nested in lists as they were in axes.

    Parameters
    ----------
    values : array-like
    parts : int, default 1000
        100 for hundredths, and so on.

    Returns
    -------
    list
    """
    import numpy as np

    return np.rint(parts * np.asarray(values, dtype=np.float64)).astype(int).tolist()
