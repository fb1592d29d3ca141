"""Results and trained models that were recorded, with where they came from.

Results are JSON files that the commands in ``experiments/`` write. Models are a pair of
files: weights in half precision (NAME.safetensors) and a record (NAME.json) that says
which command, seed and versions made them, and what was measured. Nothing in either
file is executed when it is read.
"""

import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from attncourse.data.text import Vocabulary

MODELS = (
    "AttentionSeq2Seq",
    "GPT",
    "QATransformer",
    "RecurrentSeq2Seq",
    "SelfAttentionSummarizer",
    "Transformer",
    "TranslationTransformer",
)
SCALE = ".scale"  # ends the name of the scales of a matrix in 8 bits


def load(name: str, *, folder: PathLike[str] | None = None) -> dict[str, Any]:
    """Return recorded results.

    Parameters
    ----------
    name : str
        The name of a results file, without ``.json``.
    folder : path-like, optional
        Where to look; the package's own folder unless given.

    Returns
    -------
    dict
        "made" says how: command, date, versions, machine and CPU seconds.

    Raises
    ------
    TypeError, ValueError
        If `name` is no name, or the file is damaged or not one of these.
    FileNotFoundError
        If there is no such file; the message names those that there are.
    """
    path = _file(name, ".json", folder)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"{path.name} is damaged: it is not JSON ({error}). Restore the file, or "
            "make it again with `make record`."
        ) from error
    if not isinstance(record, dict) or "made" not in record:
        raise ValueError(
            f'{path.name} is no recorded file of the course: it has no field "made". '
            "Results are written by the commands in experiments/."
        )
    return record


def load_model(
    name: str, *, folder: PathLike[str] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return a trained model, in evaluation mode on the CPU, and its record.

    Parameters
    ----------
    name : str
        The name of a recorded model, without ending.
    folder : path-like, optional
        Where to look; the package's own folder unless given.

    Returns
    -------
    model : torch.nn.Module
        In float32; the weights were stored in half precision, or in 8 bits.
    record : dict
        "measures" holds what was measured *with the stored weights*, "vocabularies" a
        `Vocabulary` for each language, "arguments" those of the constructor, "made" the
        command, seed, date and versions.

    Raises
    ------
    TypeError, ValueError
        If a file is damaged, belongs to another record, or is no model of the course.
    FileNotFoundError
        If one of the two files is missing.
    """
    import attncourse

    record = load(name, folder=folder)
    if record.get("class") not in MODELS:
        raise ValueError(
            f"{name}.json is no record of a model: its class is {record.get('class')}, "
            f"not one of {', '.join(MODELS)}. For results, use load; models are made "
            "by `make checkpoints`."
        )
    weights = _weights(_file(name, ".safetensors", folder), record["sha256"])
    try:
        model = getattr(attncourse, record["class"])(**record["arguments"])
        model.load_state_dict(unpacked(weights))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name}.safetensors does not fit the model that {name}.json describes: "
            f"{error} Make both again with `make checkpoints`."
        ) from error
    record["vocabularies"] = {
        side: Vocabulary(tokens) for side, tokens in record["vocabularies"].items()
    }
    return model.eval(), record


def unpacked(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored weights in float32; rows of whole numbers times their scale.

    Parameters
    ----------
    stored : dict of str to torch.Tensor

    Returns
    -------
    dict of str to torch.Tensor
    """
    return {
        name: weight.float() * stored[name + SCALE][:, None]
        if name + SCALE in stored
        else weight.float()
        for name, weight in stored.items()
        if not name.endswith(SCALE)
    }


def _file(name, ending, folder):
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, but got {type(name).__name__}.")
    if not name or Path(name).name != name:
        raise ValueError(
            f"name must be a plain name such as 'translation', but got {name!r}. "
            "Give the folder with folder=."
        )
    base = resources.files(__name__) if folder is None else Path(folder)
    path = base / (name + ending)
    if not path.is_file():
        present = sorted(
            Path(p.name).stem for p in base.iterdir() if p.name.endswith(ending)
        )
        raise FileNotFoundError(
            f"there is no recorded file {name + ending}. There are: "
            f"{', '.join(present) or 'none'}."
        )
    return path


def _weights(path, expected):
    from safetensors import SafetensorError
    from safetensors.torch import load as read

    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise ValueError(
            f"{path.name} is damaged or belongs to another record: its SHA-256 is "
            f"{found[:12]}…, but {path.stem}.json says {expected[:12]}…. Restore both "
            "files, or make them again with `make checkpoints`."
        )
    try:
        return read(data)
    except SafetensorError as error:
        raise ValueError(
            f"{path.name} is no safetensors file ({error}). Restore it, or make it "
            "again with `make checkpoints`."
        ) from error
