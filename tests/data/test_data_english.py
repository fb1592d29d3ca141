from attncourse.data.english import PARAPHRASES, RELATIONS, annotated_sentences

DETERMINERS = {"the", "a", "another", "some", "every"}
POSSESSIVES = {"my", "her", "his", "our", "whose", "their", "your"}
PREPOSITIONS = {"with", "to", "from", "in", "up", "of", "above", "after", "on", "at"}
PREPOSITIONS |= {"during", "behind"}


def test_every_link_joins_words_of_its_kind():
    sentences = annotated_sentences()
    assert len(sentences) == len({" ".join(words) for words, _ in sentences}) == 20
    starts = {"det": DETERMINERS, "poss": POSSESSIVES, "prep": PREPOSITIONS}
    for words, links in sentences:
        assert links.keys() <= RELATIONS.keys()
        for relation, pairs in links.items():
            for query, key in pairs:
                query, key = words[query].lower(), words[key].lower()
                assert query in starts.get(relation, {query})
                assert key not in DETERMINERS | POSSESSIVES | PREPOSITIONS | {"."}


def test_every_determiner_and_possessive_is_linked():
    for words, links in annotated_sentences():
        linked = {query for pairs in links.values() for query, _ in pairs}
        for place, word in enumerate(words):
            if word.lower() in DETERMINERS | POSSESSIVES:
                assert place in linked


def test_paraphrases_are_pairs_of_different_sentences():
    sentences = [sentence for pair in PARAPHRASES for sentence in pair]
    assert len(set(sentences)) == 2 * len(PARAPHRASES) == 24
