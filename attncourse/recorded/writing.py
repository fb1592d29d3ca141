"""Write recorded results and models, with where they came from."""

import hashlib
import json
import os
import platform
import sys
import time
from importlib import metadata
from pathlib import Path

from attncourse.data.text import SPECIALS
from attncourse.recorded import MODELS, SCALE, unpacked

FOLDER = Path(__file__).parent


def provenance(seeds=(), *, packages=("torch", "numpy", "sacrebleu"), **more):
    """Return how a result was made: command, date, versions, machine.

    Parameters
    ----------
    seeds : iterable of int
        The seeds of the runs.
    packages : sequence of str
        Whose versions to note; those that are not installed are left out.
    **more
        Further entries, such as cpu_seconds.

    Returns
    -------
    dict
    """
    from attncourse import __version__

    versions = {"python": platform.python_version(), "attncourse": __version__}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    script = "/".join(Path(sys.argv[0]).resolve().parts[-2:])
    return {
        "command": " ".join(["python", script, *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d"),
        "seeds": list(seeds),
        "versions": versions,
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
        **more,
    }


def save(name, record, *, folder=None):
    """Write results as JSON; a run that is killed meanwhile leaves the old file whole.

    Parameters
    ----------
    name : str
        The name of the file, without ending.
    record : dict
        With "made", as `provenance` returns it.
    folder : path-like, optional
        The package's own folder unless given.

    Raises
    ------
    ValueError
        If `record` has no "made".
    """
    if "made" not in record:
        raise ValueError('record must have a field "made". Use provenance().')
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    _replace(Path(folder or FOLDER) / f"{name}.json", text.encode())


def save_model(
    name,
    model,
    *,
    arguments,
    vocabularies,
    measures,
    made,
    int8=False,
    folder=None,
    **more,
):
    """Write a model's weights in half precision or in 8 bits, and its record.

    Parameters
    ----------
    name : str
        The name of the two files, without ending.
    model : torch.nn.Module
        Moved to the CPU; its weights are rounded in place before they are measured.
    arguments : dict
        What its constructor has to be called with; JSON values only.
    vocabularies : dict of str to Vocabulary
    measures : callable
        ``measures(model)`` returns a dict of numbers.
    made : dict
        As `provenance` returns it.
    int8 : bool, default False
        Whether to round the rows of matrices to whole numbers from -127 to 127, each
        row with a scale in float32.
    folder : path-like, optional
        The package's own folder unless given.
    **more
        Further entries of the record.

    Raises
    ------
    ValueError
        If the model's class is not one that `load_model` knows.
    """
    import torch
    from safetensors.torch import save as to_bytes

    kind = type(model).__name__
    if kind not in MODELS:
        raise ValueError(f"the model must be one of {', '.join(MODELS)}, got {kind}.")
    weights = model.cpu().state_dict()
    stored = {}
    for key, weight in weights.items():
        if int8 and weight.ndim == 2:
            scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
            stored[key] = (weight / scale[:, None]).round().to(torch.int8)
            stored[key + SCALE] = scale
        else:
            stored[key] = weight.half().contiguous()
    model.load_state_dict(unpacked(stored))
    data = to_bytes(stored)
    record = {
        "class": kind,
        "arguments": arguments,
        "measures": measures(model.eval()),
        "made": made,
        "sha256": hashlib.sha256(data).hexdigest(),
        "vocabularies": {
            side: list(vocabulary.tokens[len(SPECIALS) :])
            for side, vocabulary in vocabularies.items()
        },
        **more,
    }
    _replace(Path(folder or FOLDER) / f"{name}.safetensors", data)
    save(name, record, folder=folder)


def _replace(path, data):
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(data)
    os.replace(temporary, path)


def _processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return names[0] if names else "unknown processor"
