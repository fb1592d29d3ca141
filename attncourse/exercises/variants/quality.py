"""Task bleu: the BLEU of a whole test set."""

from __future__ import annotations

import torch

from attncourse.data.text import EOS, PAD, SPECIALS, UNK
from attncourse.exercises.task import Check, Mistake, Task

TRANSLATE = "chapters/06_seq2seq#what-do-we-translate"
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
            ours = ours[:-2]  # and sometimes too few of them
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


def _metric(tokenize="none", **options):
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize=tokenize, force=True, **options)


def cut(ids):
    """Return the ids in front of the first <eos>."""
    ids = list(ids)
    return ids[: ids.index(EOS)] if EOS in ids else ids


def sentences(written, tokens, shorten=cut):
    """Return each row of ids as one text."""
    return [" ".join(tokens[i] for i in shorten(row)) for row in written.tolist()]


def _texts(references):
    return [" ".join(words) for words in references]


def _bleu(written, references, tokens, in_words="", *, shorten=cut, **options):
    ours = sentences(written, tokens, shorten)
    return _metric(**options).corpus_score(ours, [_texts(references)]).score


def _without_empty(written, references, tokens, in_words=""):
    ours = sentences(written, tokens)
    pairs = zip(ours, _texts(references), strict=True)
    kept = [pair for pair in pairs if pair[0]]
    ours, theirs = ([pair[side] for pair in kept] for side in (0, 1))
    return _metric().corpus_score(ours, [theirs]).score


def _words_only(ids):
    return [i for i in ids if i not in (PAD, EOS)]


def _both_as_ids(written, references, tokens, in_words=""):
    ids = {token: i for i, token in enumerate(tokens)}
    theirs = [" ".join(str(ids.get(w, UNK)) for w in words) for words in references]
    ours = [" ".join(map(str, cut(row))) for row in written.tolist()]
    return _metric().corpus_score(ours, [theirs]).score


def _mean_of_sentences(written, references, tokens, in_words="", **options):
    ours = sentences(written, tokens)
    pairs = zip(ours, _texts(references), strict=True)
    metric = _metric(effective_order=True)
    found = [metric.sentence_score(a, [b]).score for a, b in pairs]
    return sum(found) / len(found)


def _not_wrapped(written, references, tokens, in_words=""):
    return _metric().corpus_score(sentences(written, tokens), _texts(references)).score


def _wrapped_each(written, references, tokens, in_words=""):
    each = [[text] for text in _texts(references)]
    return _metric().corpus_score(sentences(written, tokens), each).score


def _exchanged(written, references, tokens, in_words=""):
    ours = sentences(written, tokens)
    return _metric().corpus_score(_texts(references), [ours]).score


def _one_text(written, references, tokens, in_words=""):
    ours, theirs = sentences(written, tokens), _texts(references)
    return _metric().corpus_score([" ".join(ours)], [[" ".join(theirs)]]).score


AS_SHARE = Mistake(
    "a share for a percentage",
    "The score lies between 0 and 1. BLEU is reported from 0 to 100.",
    wrong=lambda **given: _bleu(**given) / 100,
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
    wrong=lambda **given: _bleu(**given, tokenize="char"),
    read=TRANSLATE,
)
TOKENISED = Mistake(
    "another tokeniser",
    "sacreBLEU has cut the texts into words once more, by rules of its own. The words "
    "are given here, and even <unk> is one of them.",
    wrong=lambda **given: _bleu(**given, tokenize="13a"),
    read=TRANSLATE,
)
TURNED = Mistake(
    "exchanged",
    "Translations and references have changed places. It matters: BLEU punishes a "
    "translation that is shorter than its reference, and not the other way round.",
    wrong=_exchanged,
    read=TRANSLATE,
)
UNWRAPPED = Mistake(
    "references not wrapped",
    "sacreBLEU takes a list of *sets* of references, since a sentence may have "
    "several. A bare list of texts is read as sets with one letter for each sentence.",
    wrong=_not_wrapped,
    read=TRANSLATE,
)

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
            expected=_bleu,
            mistakes=(
                AS_SHARE,
                UNWRAPPED,
                CHARACTERS,
                TOKENISED,
                TURNED,
                OF_IDS,
            ),
            pure=True,
        ),
        Check(
            "a translation ends in front of its first <eos>",
            0.5,
            inputs=_ended_sentence,
            ask=_ask,
            expected=_bleu,
            mistakes=(
                Mistake(
                    "<eos> and padding left in",
                    "The words <eos> and <pad> are counted as words of the "
                    "translation, which no reference has.",
                    wrong=lambda **given: _bleu(**given, shorten=list),
                    read=TRANSLATE,
                ),
                Mistake(
                    "padding left in",
                    "The words <pad> are counted as words of the translation.",
                    wrong=lambda **given: _bleu(
                        **given, shorten=lambda ids: [i for i in ids if i != EOS]
                    ),
                    read=TRANSLATE,
                ),
                Mistake(
                    "<eos> left in",
                    "The word <eos> is counted as a word of the translation.",
                    wrong=lambda **given: _bleu(
                        **given, shorten=lambda ids: [*cut(ids), EOS]
                    ),
                    read=TRANSLATE,
                ),
                Mistake(
                    "goes on after <eos>",
                    "What the model wrote after <eos> is counted. The sentence ends "
                    "there, whatever stands behind.",
                    when=lambda seen, expected, inputs: _goes_on(seen, inputs),
                    read=TRANSLATE,
                ),
                AS_SHARE,
                UNWRAPPED,
                CHARACTERS,
                TOKENISED,
                TURNED,
                OF_IDS,
            ),
        ),
        Check(
            "a test set has one score, from the counts of all its sentences",
            1,
            inputs=_several_sentences,
            ask=_ask,
            expected=_bleu,
            mistakes=(
                Mistake(
                    "mean of sentences",
                    "This is the mean of the scores of single sentences. BLEU adds up "
                    "the counts of all sentences first, so that long sentences count "
                    "for more, and then makes one score.",
                    when=lambda seen, expected, inputs: _is_mean(seen, inputs),
                    read=TRANSLATE,
                ),
                UNWRAPPED,
                Mistake(
                    "each reference wrapped",
                    "Each reference is a list of its own, so sacreBLEU sees as many "
                    "sets of references as there are sentences, with one sentence "
                    "each: it scores the first sentence and leaves out the rest.",
                    wrong=_wrapped_each,
                    read=TRANSLATE,
                ),
                Mistake(
                    "references as ids",
                    "The references have been turned into ids. A word that the "
                    "vocabulary does not have became <unk> there, and a translation "
                    "that says <unk> counts as right.",
                    wrong=_both_as_ids,
                    read=TRANSLATE,
                ),
                Mistake(
                    "one long text",
                    "The sentences are joined into one text. Runs of words then reach "
                    "across the ends of sentences.",
                    wrong=_one_text,
                    read=TRANSLATE,
                ),
                Mistake(
                    "runs of one and two words only",
                    "Only runs of one and of two words are counted. BLEU counts runs "
                    "of up to four.",
                    wrong=lambda **given: _bleu(**given, max_ngram_order=2),
                    read=TRANSLATE,
                ),
                Mistake(
                    "small letters for capitals",
                    "Capitals and small letters are taken for the same: `A` passes "
                    "for `a`.",
                    wrong=lambda **given: _bleu(**given, lowercase=True),
                    read=TRANSLATE,
                ),
                Mistake(
                    "empty translations left out",
                    "A sentence for which nothing was written has been left out. It "
                    "is a translation too, and a poor one.",
                    wrong=_without_empty,
                    read=TRANSLATE,
                ),
                AS_SHARE,
                CHARACTERS,
                TOKENISED,
                TURNED,
                OF_IDS,
                Mistake(
                    "<eos> and padding left in",
                    "The words <eos> and <pad> are counted as words of the "
                    "translation, which no reference has.",
                    wrong=lambda **given: _bleu(**given, shorten=list),
                    read=TRANSLATE,
                ),
                Mistake(
                    "padding left in",
                    "The words <pad> are counted as words of the translation.",
                    wrong=lambda **given: _bleu(
                        **given, shorten=lambda ids: [i for i in ids if i != EOS]
                    ),
                    read=TRANSLATE,
                ),
                Mistake(
                    "<eos> left in",
                    "The word <eos> is counted as a word of each translation.",
                    wrong=lambda **given: _bleu(
                        **given, shorten=lambda ids: [*cut(ids), EOS]
                    ),
                    read=TRANSLATE,
                ),
            ),
        ),
    ),
)


def _near(seen, value):
    return (
        seen["result"].kind == "float" and abs(seen["result"].values[0] - value) < 0.02
    )


def _goes_on(seen, inputs):
    def no_padding(ids):
        return [i for i in ids if i != PAD]

    ways = (_words_only, no_padding)
    return any(_near(seen, _bleu(**inputs, shorten=way)) for way in ways)


def _is_mean(seen, inputs):
    if _near(seen, _mean_of_sentences(**inputs)):
        return True
    ours = sentences(inputs["written"], inputs["tokens"])
    pairs = zip(ours, _texts(inputs["references"]), strict=True)
    metric = _metric()
    found = [metric.corpus_score([a], [[b]]).score for a, b in pairs]
    return _near(seen, sum(found) / len(found))
