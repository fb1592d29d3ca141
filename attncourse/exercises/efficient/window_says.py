"""What is said of queries that see other keys than those of their window."""

from attncourse.exercises.efficient.oracle import BLOCKS, FAULTS, WINDOW

# By the fault: the name of the mistake and a sentence, and where the book explains it.
SAID = {
    "no weights": (
        "no value reaches the output",
        "The output is 0 where all scores are alike, whatever the values are: no value "
        "reaches it.",
        WINDOW,
    ),
    "no mean": (
        "not a mean of values",
        "Where all scores are alike, some values count negatively. Attention returns a "
        "weighted mean of values: is the output changed after it?",
        WINDOW,
    ),
    "weight lost": (
        "weight that goes to no key",
        "Each query sees the right keys, but where all scores are alike its weights do "
        "not sum to 1. Something else takes part in the softmax: zeros that fill up "
        "the blocks or lie beside the sequence, or hidden keys whose weights are set "
        "to 0 after it.",
        FAULTS,
    ),
    "weight won": (
        "weights that sum to more than 1",
        "Each query sees the right keys, but its weights sum to more than 1. Along "
        "which axis does the softmax run, and is it one over all the keys of a query?",
        BLOCKS,
    ),
    "uneven": (
        "keys that count more than once",
        "Where all scores are alike, some keys weigh more than others. Is a key "
        "gathered twice, is a number added to some scores, or does each block have a "
        "softmax of its own?",
        BLOCKS,
    ),
    "inverted": (
        "inverted",
        "A query sees the keys outside of its window, and none inside. True means "
        "'may attend', in this course and in the functions that you call.",
        "chapters/05_masking#case-1-the-mask-that-hid-the-wrong-half",
    ),
    "turned round": (
        "rows and columns exchanged",
        "Each query sees the keys that come after it. Rows are queries and columns "
        "are keys.",
        WINDOW,
    ),
    "queries that see nothing": (
        "queries that see no key",
        "Some queries see no key at all, not even their own. Where do their windows "
        "begin and end, and are queries and keys counted from the same place?",
        FAULTS,
    ),
    "no mask": (
        "no window",
        "Every query sees every key: this is full attention. Is the mask made and not "
        "used?",
        WINDOW,
    ),
    "own key left out": (
        "own key left out",
        "No query sees its own key. It is the nearest of the window.",
        WINDOW,
    ),
    "far ahead": (
        "window too long ahead",
        "The window reaches too far ahead: queries see later keys than they should. "
        "Causal, they see none; two-sided, those at most `window` away.",
        WINDOW,
    ),
    "both ways": (
        "window too long, or moved",
        "The window is a band, but with another beginning and another end. Causal, it "
        "holds the `window` newest keys; two-sided, those at most `window` away.",
        WINDOW,
    ),
    "short ahead": (
        "window too short ahead",
        "The window reaches back as far as it should, but not as far ahead. Two-sided, "
        "it is as long to each side.",
        WINDOW,
    ),
    "short both ways": (
        "window too short, or moved",
        "The window is a band, but it does not reach as far ahead as it should, and "
        "its far end lies elsewhere too. Two-sided, `window` is the reach to *each* "
        "side.",
        WINDOW,
    ),
    "far back": (
        "window too long",
        "The window reaches too far back. Causal, the own key is one of the `window` "
        "newest; two-sided, the farthest key is `window` away.",
        FAULTS,
    ),
    "short back": (
        "window too short",
        "The window does not reach back far enough. Causal, it holds `window` keys "
        "with the own one; two-sided, the farthest key is `window` away.",
        FAULTS,
    ),
    "whole blocks": (
        "whole blocks in place of a window",
        "All queries of a block see the same keys. Is there a mask that hides, and "
        "does not only lower, what lies outside of a window? The blocks are a way to "
        "compute: each query still has a window of its own, which moves with it.",
        BLOCKS,
    ),
    "last queries": (
        "last queries see other keys",
        "Only the last queries see other keys than they should, those at the end of "
        "the sequence: there a block is not full, or a window goes past the end.",
        FAULTS,
    ),
    "first queries": (
        "first queries see too much",
        "Only the first queries are wrong. Their windows begin before the sequence "
        "does, so they see fewer keys; nothing makes up for that.",
        FAULTS,
    ),
    "neighbour missing": (
        "keys of another block missing",
        "Keys are missing that lie inside the window but in another block than the "
        "query. Which blocks does a window reach into?",
        BLOCKS,
    ),
    "keys missing": (
        "keys of the window missing",
        "Some queries do not see all keys of their window. Every key at an allowed "
        "distance counts, none is left out in between.",
        WINDOW,
    ),
    "too old": (
        "too old keys are seen",
        "Some queries see keys that are too old for their window, and all else is "
        "right. A rectangle of blocks holds more than the band: a mask has to hide the "
        "rest.",
        BLOCKS,
    ),
    "too late": (
        "too late keys are seen",
        "Some queries see keys that come too late for their window, and all else is "
        "right. Causal, no query sees a key after its own, the first ones neither.",
        BLOCKS,
    ),
    "too many": (
        "keys outside of the window are seen",
        "Some queries see keys outside of their window, and miss none inside. The "
        "window moves with the query, key by key: a block, or a rectangle of blocks, "
        "holds more than it.",
        BLOCKS,
    ),
    "other keys": (
        "other keys than those of the window",
        "Some queries see keys outside of their window and miss keys inside it. Is the "
        "position of each query and of each key in the *sequence* right, or is it "
        "counted from the beginning of a block? Do the values lie where their keys do?",
        BLOCKS,
    ),
}
