"""Standard measures of translations, summaries and alignments.

BLEU and ROUGE come from the libraries that papers report, sacreBLEU and rouge-score.
"""

from collections.abc import Sequence
from typing import Any

from attncourse import _checks


def bleu(
    hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> tuple[float, str]:
    """Return the corpus BLEU of token lists, and sacreBLEU's signature of the score.

    Parameters
    ----------
    hypotheses, references : list of list of str
        One list of tokens for each sentence. The tokens are taken as they are.

    Returns
    -------
    score : float
        0 to 100.
    signature : str
        sacreBLEU's description of how the score was computed.

    Raises
    ------
    ValueError
        If there are no sentences, or not as many hypotheses as references.
    TypeError
        If sentences are not lists of str, such as lists of ids.

    References
    ----------
    Papineni et al. (2002); Post (2018), "A call for clarity in reporting BLEU scores".
    """
    from sacrebleu.metrics import BLEU

    _check_pairs("hypotheses", hypotheses, references)
    metric = BLEU(tokenize="none", force=True)
    score = metric.corpus_score(_join(hypotheses), [_join(references)])
    return score.score, str(metric.get_signature())


def rouge(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    kinds: Sequence[str] = ("rouge1", "rouge2", "rougeL"),
) -> dict[str, float]:
    """Return mean ROUGE F-scores of token lists.

    Parameters
    ----------
    hypotheses, references : list of list of str
        One list of tokens for each text.
    kinds : sequence of str
        Names that rouge-score knows.

    Returns
    -------
    dict of str to float
        For each kind, the mean over texts, 0 to 100.

    Raises
    ------
    ValueError, TypeError
        As for `bleu`.

    References
    ----------
    Lin (2004), "ROUGE: a package for automatic evaluation of summaries".
    """
    from rouge_score.rouge_scorer import RougeScorer

    _check_pairs("hypotheses", hypotheses, references)
    scorer = RougeScorer(list(kinds))
    totals = dict.fromkeys(kinds, 0.0)
    pairs = zip(_join(references), _join(hypotheses), strict=True)
    for reference, hypothesis in pairs:
        for kind, score in scorer.score(reference, hypothesis).items():
            totals[kind] += 100 * score.fmeasure
    return {kind: total / len(hypotheses) for kind, total in totals.items()}


def alignment_error_rate(weights: Any, gold: Any) -> float:
    r"""Compare where attention looks with gold word alignments.

    Each target word is linked to the source word with the largest weight, and

    .. math:: \mathrm{AER} = 1 - \frac{2\,|A \cap G|}{|A| + |G|}

    Parameters
    ----------
    weights : list of array_like or torch.Tensor
        One ``(target, source)`` matrix for each sentence, without padding.
    gold : list of iterable of tuple
        For each sentence, pairs (source index, target index).

    Returns
    -------
    float
        0 to 1. With one link for each target word it cannot reach 0 where a target word
        has several gold links or none.

    Raises
    ------
    ValueError
        If there are no sentences or no links, or a gold link points outside its matrix.

    References
    ----------
    Och and Ney (2003), "A systematic comparison of various statistical alignment
    models", section 5.1, with all gold links sure.
    """
    import numpy as np

    _check_pairs("weights", weights, gold, words=False)
    common = found = wanted = 0
    for number, (matrix, links) in enumerate(zip(weights, gold, strict=True)):
        if hasattr(matrix, "detach"):
            matrix = matrix.detach().cpu()
        matrix = np.asarray(matrix)
        _checks.exact_rank("weights", matrix, 2, layout="(target, source)")
        links = {(int(s), int(t)) for s, t in links}
        for s, t in links:
            if not (0 <= t < matrix.shape[0] and 0 <= s < matrix.shape[1]):
                raise ValueError(
                    f"gold link (source {s}, target {t}) of sentence {number} lies "
                    f"outside its weights, whose shape (target, source) is "
                    f"{matrix.shape}. Gold pairs are (source index, target index)."
                )
        own = {(int(row.argmax()), t) for t, row in enumerate(matrix)}
        common += len(own & links)
        found += len(own)
        wanted += len(links)
    if found + wanted == 0:
        raise ValueError("there must be at least one link to compare, but got none.")
    return 1 - 2 * common / (found + wanted)


def _join(sentences):
    return [" ".join(tokens) for tokens in sentences]


def _check_pairs(name, ours, references, *, words=True):
    if len(ours) != len(references) or not len(ours):
        raise ValueError(
            f"{name} must be as many as the references, and at least one, but got "
            f"{len(ours)} and {len(references)}."
        )
    if not words:
        return
    for tokens in (*ours, *references):
        if isinstance(tokens, str) or not all(isinstance(t, str) for t in tokens):
            raise TypeError(
                f"each sentence must be a list of words, but got {tokens!r}. Decode "
                "ids to words first: a score of ids counts the wrong thing."
            )
