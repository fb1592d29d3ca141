"""What the experiments share: options, one thread, rows that are saved one by one."""

import argparse
import time
from contextlib import suppress
from functools import partial
from itertools import product

import torch
import torch.nn.functional as F

from attncourse.recorded import load
from attncourse.recorded.writing import provenance, save
from attncourse.training import train

torch.set_num_threads(1)  # seconds are CPU seconds of one core
fit = partial(train, device="cpu", progress=False)


def parser_of(description, seeds=(0, 1, 2)):
    """Return a parser of ``--seeds`` and ``--again``."""
    parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=seeds)
    parser.add_argument("--again", action="store_true", help="rows that exist too")
    return parser


def size_of(model):
    """Return the number of parameters."""
    return sum(p.numel() for p in model.parameters())


def next_loss(model, ids):
    """Return the mean cross-entropy of the next ids, given those before."""
    return F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:])


def best(rows):
    """Return the row that is best in validation."""
    return max(rows, key=lambda row: row["validation"])


class Recorder:
    """The rows of a recorded file; a command that was killed goes on where it stopped.

    Parameters
    ----------
    name : str
        Of the file.
    options : argparse.Namespace
        "again" says whether rows that this process has not made are made again.
    fields : dict, optional
        What the file has beside its rows.
    **made
        What `provenance` is given. The command is the script of the file's name.
    """

    def __init__(self, name, options, *, fields=(), **made):
        self.name, self.again, self.fields = name, options.again, dict(fields)
        self.made = {"command": f"python experiments/{name}.py"} | made
        self.done = []

    def rows(self, part, measure, **keys):
        """Return a row for each combination of some keys, seed after seed.

        Parameters
        ----------
        part : str
            The list that the rows are in.
        measure : callable
            ``measure(**key)`` returns the rest of a row, a dict.
        **keys
            For each entry that names a row, the values that it takes.
        """
        named = [dict(zip(keys, key, strict=True)) for key in product(*keys.values())]
        named.sort(key=lambda key: key.get("seed", 0))
        return [self.row(part, partial(measure, **key), **key) for key in named]

    def row(self, part, measure, **key):
        """Return a row, by what it is named by; make and save it if it is missing.

        Parameters
        ----------
        part : str
            The list that the row is in.
        measure : callable
            ``measure()`` returns the rest of the row, a dict.
        **key
            The entries that name the row; its seed, if it has one, among them.
        """
        for row in self._read().get(part, []):
            if key.items() <= row.items() and (key in self.done or not self.again):
                return row
        print(f"{part}: {key}", flush=True)
        begin = time.process_time()
        new = key | measure()
        new["cpu_seconds"] = round(time.process_time() - begin, 1)
        print("  ", new, flush=True)
        self.done.append(key)
        self._add(part, key, new)
        return new

    def _read(self):
        with suppress(FileNotFoundError):
            return load(self.name)
        return {}

    def _add(self, part, key, new):
        record = self._read()  # once more: another command may have added a row
        rows = [r for r in record.get(part, []) if not key.items() <= r.items()]
        record[part] = sorted([*rows, new], key=lambda row: row.get("seed", 0))
        lists = (value for value in record.values() if isinstance(value, list))
        rows = [row for rows in lists for row in rows if isinstance(row, dict)]
        seconds = round(sum(row.get("cpu_seconds", 0) for row in rows))
        seeds = sorted({row["seed"] for row in rows if "seed" in row})
        made = provenance(seeds, cpu_seconds=seconds, **self.made)
        save(self.name, {"made": made} | self.fields | record | {"made": made})
