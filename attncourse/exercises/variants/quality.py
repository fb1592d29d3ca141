"""Task bleu: the BLEU of a whole test set."""

from __future__ import annotations

import torch

from attncourse.data.text import EOS, PAD, SPECIALS, UNK
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.bleu_mistakes import (
    AS_SHARE,
    CHARACTERS,
    OF_IDS,
    OTHER_TEXTS,
    TOKENISED,
    TRANSLATE,
    TURNED,
    UNWRAPPED,
    goes_on,
    is_mean,
)
from attncourse.exercises.variants.bleus import (
    bleu_of,
    both_as_ids,
    cut,
    one_text,
    without_empty,
    wrapped_each,
)

WORDS = ("a", "A", "le", "la", "un", "chat", "rat", "noir", "vert", "voit", "dort", ".")
TOKENS = (*SPECIALS, *WORDS)


def _corpus_of(generator, lengths):
    """Draw references, and translations of them with some words wrong, as ids."""
    references, written = [], []
    for length in lengths:
        reference = torch.randint(4, len(TOKENS), (length,), generator=generator)
        ours = reference.clone()
        # The first letter is a word, so that a bare reference is no total miss.
        reference[0] = ours[0] = TOKENS.index("a")
        ours[1] = 4 + (ours[1] - 3) % (len(TOKENS) - 4)  # another word
        if not len(written) % 2:
            ours = ours[:-2]  # and sometimes too few of them, or too many
        elif len(written) % 4 == 1:
            ours = torch.cat([ours, ours[2:5]])
        references.append([TOKENS[i] for i in reference])
        written.append(ours.tolist())
    return references, written


def _one_sentence(generator):
    length = torch.randint(9, 11, (), generator=generator).item()
    references, written = _corpus_of(generator, [length])
    return _given(written, references)


def _ended_sentence(generator):
    length = torch.randint(9, 11, (), generator=generator).item()
    references, written = _corpus_of(generator, [length])
    after = torch.randint(4, len(TOKENS), (2,), generator=generator).tolist()
    return _given([[*written[0], EOS, *after, EOS, PAD]], references)


def _several_sentences(generator):
    lengths = torch.randint(8, 12, (4,), generator=generator).tolist()
    references, written = _corpus_of(generator, lengths)
    references[0][2] = "lapin"  # a word that the vocabulary does not have
    written[0][2] = UNK
    longest = max(map(len, written)) + 1
    written[-1] = []  # a model may write nothing at all
    rows = [[*row, EOS] + [PAD] * (longest - 1 - len(row)) for row in written]
    return _given(rows, references)


def _given(rows, references):
    return {
        "written": torch.tensor(rows),
        "in_words": " ".join(TOKENS[i] for i in rows[0]),  # for the reader of feedback
        "references": references,
        "tokens": TOKENS,
    }


def _ask(corpus_bleu, written, in_words, references, tokens):
    return corpus_bleu(written, references, tokens)


BLEU_TASK = Task(
    name="bleu",
    title="BLEU of a whole test set",
    names=("corpus_bleu",),
    difficulty="medium",
    minutes=15,
    checks=(
        Check(
            "one sentence gets its BLEU, from 0 to 100",
            0.5,
            inputs=_one_sentence,
            ask=_ask,
            expected=bleu_of,
            mistakes=(
                AS_SHARE,
                UNWRAPPED,
                CHARACTERS,
                TOKENISED,
                TURNED,
                OF_IDS,
                *OTHER_TEXTS,
            ),
            pure=True,
        ),
        Check(
            "a translation ends in front of its first <eos>",
            0.5,
            inputs=_ended_sentence,
            ask=_ask,
            expected=bleu_of,
            mistakes=(
                Mistake(
                    "<eos> and padding left in",
                    "The words <eos> and <pad> are counted as words of the "
                    "translation, which no reference has.",
                    wrong=lambda **given: bleu_of(**given, shorten=list),
                    read=TRANSLATE,
                ),
                Mistake(
                    "padding left in",
                    "The words <pad> are counted as words of the translation.",
                    wrong=lambda **given: bleu_of(
                        **given, shorten=lambda ids: [i for i in ids if i != EOS]
                    ),
                    read=TRANSLATE,
                ),
                Mistake(
                    "<eos> left in",
                    "The word <eos> is counted as a word of the translation.",
                    wrong=lambda **given: bleu_of(
                        **given, shorten=lambda ids: [*cut(ids), EOS]
                    ),
                    read=TRANSLATE,
                ),
                Mistake(
                    "goes on after <eos>",
                    "What the model wrote after <eos> is counted. The sentence ends "
                    "there, whatever stands behind.",
                    when=lambda seen, expected, inputs: goes_on(seen, inputs),
                    read=TRANSLATE,
                ),
                AS_SHARE,
                UNWRAPPED,
                CHARACTERS,
                TOKENISED,
                TURNED,
                OF_IDS,
                *OTHER_TEXTS,
            ),
        ),
        Check(
            "a test set has one score, from the counts of all its sentences",
            1,
            inputs=_several_sentences,
            ask=_ask,
            expected=bleu_of,
            mistakes=(
                Mistake(
                    "mean of sentences",
                    "This is the mean of the scores of single sentences. BLEU adds up "
                    "the counts of all sentences first, so that long sentences count "
                    "for more, and then makes one score.",
                    when=lambda seen, expected, inputs: is_mean(seen, inputs),
                    read=TRANSLATE,
                ),
                UNWRAPPED,
                Mistake(
                    "each reference wrapped",
                    "Each reference is a list of its own, so sacreBLEU sees as many "
                    "sets of references as there are sentences, with one sentence "
                    "each: it scores the first sentence and leaves out the rest.",
                    wrong=wrapped_each,
                    read=TRANSLATE,
                ),
                Mistake(
                    "references as ids",
                    "The references have been turned into ids. A word that the "
                    "vocabulary does not have became <unk> there, and a translation "
                    "that says <unk> counts as right.",
                    wrong=both_as_ids,
                    read=TRANSLATE,
                ),
                Mistake(
                    "one long text",
                    "The sentences are joined into one text. Runs of words then reach "
                    "across the ends of sentences.",
                    wrong=one_text,
                    read=TRANSLATE,
                ),
                Mistake(
                    "runs of one and two words only",
                    "Only runs of one and of two words are counted. BLEU counts runs "
                    "of up to four.",
                    wrong=lambda **given: bleu_of(**given, max_ngram_order=2),
                    read=TRANSLATE,
                ),
                Mistake(
                    "empty translations left out",
                    "A sentence for which nothing was written has been left out. It "
                    "is a translation too, and a poor one.",
                    wrong=without_empty,
                    read=TRANSLATE,
                ),
                AS_SHARE,
                CHARACTERS,
                TOKENISED,
                TURNED,
                OF_IDS,
                *OTHER_TEXTS,
                Mistake(
                    "<eos> and padding left in",
                    "The words <eos> and <pad> are counted as words of the "
                    "translation, which no reference has.",
                    wrong=lambda **given: bleu_of(**given, shorten=list),
                    read=TRANSLATE,
                ),
                Mistake(
                    "padding left in",
                    "The words <pad> are counted as words of the translation.",
                    wrong=lambda **given: bleu_of(
                        **given, shorten=lambda ids: [i for i in ids if i != EOS]
                    ),
                    read=TRANSLATE,
                ),
                Mistake(
                    "<eos> left in",
                    "The word <eos> is counted as a word of each translation.",
                    wrong=lambda **given: bleu_of(
                        **given, shorten=lambda ids: [*cut(ids), EOS]
                    ),
                    read=TRANSLATE,
                ),
            ),
        ),
    ),
)
