"""Things to move: one class for each widget, the same in Jupyter and on the site.

The classes are loaded when they are first used. They need the extra ``widgets``, and
neither PyTorch nor Matplotlib.
"""

from attncourse._lazy import lazy_names

_NAMES = {
    "by_hand": ["AttentionByHand"],
    "saturation": ["Saturation"],
    "positions": ["Positions"],
    "masks": ["Masks", "SparsePatterns"],
    "translator": ["Translator"],
    "alignment": ["Alignment"],
    "heads": ["Heads", "InductionHead"],
    "seq2seq": ["StepByStep"],
    "gpt": ["ForwardPass", "LanguageModel"],
    "recurrent": ["Copying", "Reading"],
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
