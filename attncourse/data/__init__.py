"""Generated data: symbol tasks, translations, passages, news; and file loaders.

Names are imported when they are first used, so that the generators work without torch.
"""

from attncourse._lazy import lazy_names

_HOME = {
    "batching": ("length_batches", "pad_sequences", "translation_tensors"),
    "loaders": ("read_parallel_text",),
    "markov": (
        "markov_recall_batch",
        "markov_recall_floor",
        "markov_recall_losses",
        "markov_successors",
    ),
    "news": ("NewsArticle", "news_articles"),
    "passages": (
        "ENIAC_NAMES",
        "QAExample",
        "eniac_passage",
        "reading_passages",
        "qa_examples",
    ),
    "squad": ("SquadExample", "read_squad", "to_qa_examples"),
    "stories": ("Passage", "Question"),
    "symbols": (
        "associative_recall_batch",
        "copy_batch",
        "repeated_sequence_batch",
        "reverse_batch",
    ),
    "text": ("Vocabulary", "token_spans", "tokenise"),
    "translation": (
        "LANGUAGES",
        "SentencePair",
        "Splits",
        "parallel_corpus",
        "splits",
        "translation_pairs",
    ),
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
