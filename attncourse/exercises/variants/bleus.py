"""BLEU as it should be computed, and with something different about it."""

from __future__ import annotations

from attncourse.data.text import EOS, PAD, UNK


def metric_of(tokenize="none", **options):
    """Return sacreBLEU's measure for words that are ready to be counted."""
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize=tokenize, force=True, **options)


def cut(ids):
    """Return the ids in front of the first <eos>."""
    ids = list(ids)
    return ids[: ids.index(EOS)] if EOS in ids else ids


def sentences(written, tokens, shorten=cut):
    """Return each row of ids as one text."""
    return [" ".join(tokens[i] for i in shorten(row)) for row in written.tolist()]


def texts_of(references):
    """Return each list of words as one text."""
    return [" ".join(words) for words in references]


def edited(edit):
    """Return the BLEU of texts that ``edit(ours, theirs)`` has changed."""

    def score(written, references, tokens, in_words=""):
        ours, theirs = edit(sentences(written, tokens), texts_of(references))
        return metric_of().corpus_score(ours, [theirs]).score

    return score


def bleu_of(written, references, tokens, in_words="", *, shorten=cut, **options):
    """Return the BLEU of all sentences, with other options of sacreBLEU if given."""
    ours = sentences(written, tokens, shorten)
    return metric_of(**options).corpus_score(ours, [texts_of(references)]).score


def without_empty(written, references, tokens, in_words=""):
    """Leave out the sentences for which nothing was written."""
    ours = sentences(written, tokens)
    pairs = zip(ours, texts_of(references), strict=True)
    kept = [pair for pair in pairs if pair[0]]
    ours, theirs = ([pair[side] for pair in kept] for side in (0, 1))
    return metric_of().corpus_score(ours, [theirs]).score


def words_only(ids):
    """Return the ids that are neither padding nor <eos>."""
    return [i for i in ids if i not in (PAD, EOS)]


def both_as_ids(written, references, tokens, in_words=""):
    """Compare ids with ids."""
    ids = {token: i for i, token in enumerate(tokens)}
    theirs = [" ".join(str(ids.get(w, UNK)) for w in words) for words in references]
    ours = [" ".join(map(str, cut(row))) for row in written.tolist()]
    return metric_of().corpus_score(ours, [theirs]).score


def mean_of_sentences(written, references, tokens, in_words="", **options):
    """Return the mean of the scores of single sentences."""
    ours = sentences(written, tokens)
    pairs = zip(ours, texts_of(references), strict=True)
    metric = metric_of(effective_order=True)
    found = [metric.sentence_score(a, [b]).score for a, b in pairs]
    return sum(found) / len(found)


def not_wrapped(written, references, tokens, in_words=""):
    """Give the references as a bare list."""
    return (
        metric_of().corpus_score(sentences(written, tokens), texts_of(references)).score
    )


def wrapped_each(written, references, tokens, in_words=""):
    """Give each reference as a set of its own."""
    each = [[text] for text in texts_of(references)]
    return metric_of().corpus_score(sentences(written, tokens), each).score


def exchanged(written, references, tokens, in_words=""):
    """Exchange translations and references."""
    ours = sentences(written, tokens)
    return metric_of().corpus_score(texts_of(references), [ours]).score


def one_text(written, references, tokens, in_words=""):
    """Join all sentences into one."""
    ours, theirs = sentences(written, tokens), texts_of(references)
    return metric_of().corpus_score([" ".join(ours)], [[" ".join(theirs)]]).score
