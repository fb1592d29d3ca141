"""What is said of blocks that see other blocks than those of the pattern."""

# By the fault: the name of the mistake and a sentence.
SAID = {
    "window longer": (
        "window too long by one",
        "The farthest block of the window is window + 1 away. In blocks, a window of 1 "
        "means the own block and one to each side.",
    ),
    "window doubled": (
        "window doubled",
        "The window reaches twice as far as it should. `window` is its reach to *each* "
        "side, in blocks.",
    ),
    "window shorter": (
        "window too short by one",
        "The farthest block that is seen is window − 1 away. In blocks, a window of 1 "
        "means the own block and one to each side.",
    ),
    "stride longer": (
        "stride too long by one",
        "Between two blocks of the stride there are `stride` blocks. Every `stride`-th "
        "block means stride − 1 in between.",
    ),
    "stride shorter": (
        "stride too short by one",
        "Between two blocks of the stride there are stride − 2 blocks. Every "
        "`stride`-th block means stride − 1 in between.",
    ),
    "more hubs": (
        "one global block too many",
        "There is one global block more than asked for. Blocks count from 0: the first "
        "`num_global` have numbers less than `num_global`, and 0 means none.",
    ),
    "fewer hubs": (
        "one global block too few",
        "There is one global block less than asked for. Blocks count from 0: the first "
        "`num_global` have the numbers 0 to num_global − 1.",
    ),
    "exchanged": (
        "window and stride exchanged",
        "Window and stride have changed places: the first number is taken for the "
        "second, and the second for the first.",
    ),
    "a hub too many": (
        "a block sees all that is not global",
        "A block sees every other one and is not among the first `num_global`. Blocks "
        "count from 0, and 0 global blocks means none.",
    ),
    "several missing": (
        "links of several rules missing",
        "Links are missing that different rules allow, and none is too many. Are the "
        "rules joined by *and*, or does one replace another? A block is seen if *one* "
        "of them holds.",
    ),
    "inverted": (
        "inverted",
        "The blocks that should be seen are not, and all others are.",
    ),
    "blocks that see nothing": (
        "blocks that see nothing",
        "Some blocks see no block at all. Each sees at least itself: a window of 0 is "
        "the block itself.",
    ),
    "everything": (
        "every block is seen",
        "Every block sees every other: nothing is left out. Which of the three rules "
        "is true for all pairs, and should not be?",
    ),
    "only earlier": (
        "only earlier blocks",
        "No block sees a later one. This pattern looks to both sides.",
    ),
    "hubs at the end": (
        "global blocks at the end",
        "The global blocks are the last ones. They should be the first: those whose "
        "numbers are less than `num_global`.",
    ),
    "no hubs": (
        "no global blocks",
        "The global blocks are like any other block. All should see them, and they "
        "should see all.",
    ),
    "some hubs missing": (
        "links of the global blocks missing",
        "Some links of the global blocks are missing. The first `num_global` blocks, "
        "counted from 0, see all *and* are seen by all.",
    ),
    "no strides": (
        "no strides",
        "The blocks of the stride are not seen: those whose distance is a multiple of "
        "`stride`.",
    ),
    "some strides missing": (
        "links of the stride missing",
        "Some blocks of the stride are not seen. All distances that are a multiple of "
        "`stride` count, in both directions, to the ends of the sequence.",
    ),
    "no window": (
        "no window",
        "The neighbours are not seen. The window belongs to the pattern whatever the "
        "other rules say.",
    ),
    "some window missing": (
        "links of the window missing",
        "Some blocks that are at most `window` blocks away are not seen. It is counted "
        "in *blocks*, to both sides, its end included.",
    ),
    "all alike": (
        "all blocks see the same",
        "All blocks see the same ones. Window and stride are counted from the block "
        "that looks.",
    ),
    "too many": (
        "too many blocks are seen",
        "Blocks are seen that none of the three rules allows. Is a rule one block too "
        "generous, or counted from elsewhere than the block that looks?",
    ),
    "other strides": (
        "stride counted in another way",
        "Some blocks of the stride are missing, and others are seen in their place. "
        "The stride is counted in blocks, from the block that looks: the distance is a "
        "multiple of it.",
    ),
    "other blocks": (
        "other blocks than those of the pattern",
        "Blocks are seen that no rule allows, and others that one allows are not. Are "
        "the rules joined by *or*, is each counted in blocks, and are the global "
        "blocks the first ones?",
    ),
    "parts of blocks": (
        "parts of blocks are seen",
        "Some pairs of blocks are seen in part: two tokens of one block see different "
        "things. The pattern speaks of whole blocks: each entry of a mask between "
        "blocks becomes a square.",
    ),
    "last block": (
        "last block in part",
        "The pattern is right but for the last block, which is not full. Its tokens "
        "see and are seen like those of any other block.",
    ),
    "no mean": (
        "not a mean of values",
        "Where all scores are alike, some values count negatively. Attention returns a "
        "weighted mean of values: is the output changed after it?",
    ),
    "weight lost": (
        "weight that goes to no key",
        "Each block sees the right blocks, but where all scores are alike the weights "
        "do not sum to 1. Something takes part in the softmax that is no key, such as "
        "the zeros that fill up the last block.",
    ),
    "weight won": (
        "weights that sum to more than 1",
        "Each block sees the right blocks, but the weights of a query sum to more than "
        "1. Along which axis does the softmax run, and is it one over all the keys?",
    ),
    "blocks averaged": (
        "softmax of each block by itself",
        "Where all scores are alike, each block that is seen has the same share, "
        "however many keys it has. Is there one softmax over *all* keys of a query?",
    ),
    "uneven": (
        "keys that count more than once",
        "Where all scores are alike, some blocks weigh more than others of their size. "
        "Are keys gathered twice, left out, or is a number added to some scores?",
    ),
}
