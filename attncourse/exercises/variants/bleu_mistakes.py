"""Task bleu: what a BLEU can be in place of the right one."""

from __future__ import annotations

from functools import partial

from attncourse.data.text import PAD
from attncourse.exercises.task import Mistake
from attncourse.exercises.variants.bleus import (
    bleu_of,
    edited,
    exchanged,
    mean_of_sentences,
    metric_of,
    not_wrapped,
    sentences,
    texts_of,
    words_only,
)

TRANSLATE = "chapters/06_seq2seq#what-do-we-translate"

AS_SHARE = Mistake(
    "a share for a percentage",
    "The score lies between 0 and 1. BLEU is reported from 0 to 100.",
    wrong=lambda **given: bleu_of(**given) / 100,
    read=TRANSLATE,
)
OF_IDS = Mistake(
    "BLEU on token ids",
    "Ids are compared with words, and nothing matches. BLEU counts runs of words: turn "
    "ids into words first.",
    when=lambda seen, expected, inputs: (
        seen["result"].kind == "float" and seen["result"].values[0] < 1e-3
    ),
    read=TRANSLATE,
)
CHARACTERS = Mistake(
    "characters for words",
    "The score counts runs of characters, not of words.",
    wrong=lambda **given: bleu_of(**given, tokenize="char"),
    read=TRANSLATE,
)
TOKENISED = Mistake(
    "another tokeniser",
    "sacreBLEU has cut the texts into words once more, by rules of its own. The words "
    "are given here, and even <unk> is one of them.",
    wrong=lambda **given: bleu_of(**given, tokenize="13a"),
    read=TRANSLATE,
)
TURNED = Mistake(
    "exchanged",
    "Translations and references have changed places. It matters: BLEU punishes a "
    "translation that is shorter than its reference, and not the other way round.",
    wrong=exchanged,
    read=TRANSLATE,
)
UNWRAPPED = Mistake(
    "references not wrapped",
    "sacreBLEU takes a list of *sets* of references, since a sentence may have "
    "several. A bare list of texts is read as sets with one letter for each sentence.",
    wrong=not_wrapped,
    read=TRANSLATE,
)


def _without_penalty(written, references, tokens, in_words=""):
    ours, theirs = sentences(written, tokens), texts_of(references)
    found = metric_of().corpus_score(ours, [theirs])
    return found.score / found.bp


def _chrf(written, references, tokens, in_words=""):
    from sacrebleu.metrics import CHRF

    ours, theirs = sentences(written, tokens), texts_of(references)
    return CHRF().corpus_score(ours, [theirs]).score


OTHER_OPTIONS = tuple(
    Mistake(
        name,
        says,
        wrong=partial(bleu_of, **options),
        read=TRANSLATE,
    )
    for name, says, options in (
        (
            "small letters for capitals",
            "Capitals and small letters are taken for the same: `A` passes for `a`.",
            {"lowercase": True},
        ),
        *(
            (
                "another smoothing",
                f"The counts are smoothed in another way ({method}) than sacreBLEU "
                "does by itself. It matters where no run of four words is shared.",
                {"smooth_method": method, "effective_order": order},
            )
            for method in ("none", "floor", "add-k", "exp")
            for order in (False, True)
            if (method, order) != ("exp", False)
        ),
        *(
            (
                "runs of another length",
                f"Runs of up to {most} words are counted. BLEU counts runs of up to "
                "four.",
                {"max_ngram_order": most},
            )
            for most in (1, 2, 3, 5)
        ),
    )
)
OTHER_TEXTS = (
    Mistake(
        "no penalty for short texts",
        "Translations that are shorter than their references cost nothing: the penalty "
        "for that has been taken out of the score.",
        wrong=_without_penalty,
        read=TRANSLATE,
    ),
    Mistake(
        "another measure",
        "This is chrF, which counts runs of *characters*. Asked for is BLEU.",
        wrong=_chrf,
        read=TRANSLATE,
    ),
    *(
        Mistake(name, says, wrong=edited(edit), read=TRANSLATE)
        for name, says, edit in (
            (
                "the first sentence only",
                "Only the first sentence has been scored.",
                lambda ours, theirs: (ours[:1], theirs[:1]),
            ),
            (
                "repeated words dropped",
                "A word that was written twice counts once. BLEU looks at the "
                "translation as it was written.",
                lambda ours, theirs: (
                    [" ".join(dict.fromkeys(text.split())) for text in ours],
                    theirs,
                ),
            ),
            (
                "the words sorted",
                "The order of the words has been lost: runs of words are counted.",
                lambda ours, theirs: (
                    [" ".join(sorted(text.split())) for text in ours],
                    [" ".join(sorted(text.split())) for text in theirs],
                ),
            ),
            (
                "the last word cut off",
                "The last word of each translation is missing, as if every row had an "
                "<eos> to be cut off.",
                lambda ours, theirs: (
                    [" ".join(text.split()[:-1]) for text in ours],
                    theirs,
                ),
            ),
            (
                "the first word cut off",
                "The first word of each translation is missing. A row begins with a "
                "word.",
                lambda ours, theirs: (
                    [" ".join(text.split()[1:]) for text in ours],
                    theirs,
                ),
            ),
            (
                "cut to the length of the reference",
                "A translation that is longer than its reference has been cut. The "
                "words too many are part of it, and BLEU counts them.",
                lambda ours, theirs: (
                    [
                        " ".join(a.split()[: len(b.split())])
                        for a, b in zip(ours, theirs, strict=True)
                    ],
                    theirs,
                ),
            ),
            (
                "one side in small letters",
                "The references, or the translations, have lost their capitals, and "
                "the other side has not.",
                lambda ours, theirs: (ours, [text.lower() for text in theirs]),
            ),
            (
                "sentences out of step",
                "Translations and references are not in the same order any more: each "
                "is compared with the reference of another sentence.",
                lambda ours, theirs: (sorted(ours), sorted(theirs)),
            ),
            (
                "no spaces between the words",
                "The words are joined without spaces, so each text is a single word.",
                lambda ours, theirs: (
                    [text.replace(" ", "") for text in ours],
                    [text.replace(" ", "") for text in theirs],
                ),
            ),
        )
    ),
    *OTHER_OPTIONS,
)


def _near(seen, value):
    return (
        seen["result"].kind == "float" and abs(seen["result"].values[0] - value) < 0.02
    )


def goes_on(seen, inputs):
    """Say whether what stands behind the first <eos> was counted."""

    def no_padding(ids):
        return [i for i in ids if i != PAD]

    ways = (words_only, no_padding)
    return any(_near(seen, bleu_of(**inputs, shorten=way)) for way in ways)


def is_mean(seen, inputs):
    """Say whether the scores of single sentences were averaged."""
    if _near(seen, mean_of_sentences(**inputs)):
        return True
    ours = sentences(inputs["written"], inputs["tokens"])
    pairs = zip(ours, texts_of(inputs["references"]), strict=True)
    metric = metric_of()
    found = [metric.corpus_score([a], [[b]]).score for a, b in pairs]
    return _near(seen, sum(found) / len(found))
