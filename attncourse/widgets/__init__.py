"""Things to move: one class for each widget, the same in Jupyter and on the site.

The classes are loaded when they are first used. They need the extra ``widgets``, and
neither PyTorch nor Matplotlib.
"""

from importlib import import_module

_NAMES = {
    "by_hand": ["AttentionByHand"],
    "saturation": ["Saturation"],
    "positions": ["Positions"],
    "masks": ["Masks"],
    "translator": ["Translator"],
    "alignment": ["Alignment"],
    "heads": ["Heads"],
    "seq2seq": ["StepByStep"],
    "gpt": ["ForwardPass", "LanguageModel"],
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # so that __getattr__ is asked once for each name
    return value


def __dir__():
    return sorted({*globals(), *__all__})
