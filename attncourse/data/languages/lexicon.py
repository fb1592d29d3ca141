"""The words of the grammar, read from the tables in ``words.toml``.

A form is a tuple of (token, English tokens that it renders).
"""

from attncourse.data._files import read_table

_SCALES = {"1": "size", "3": "age", "4": "colour"}
_SCALES |= {"expensive": "price", "cheap": "price", "hot": "heat", "cold": "heat"}


class Noun:
    """A noun with its forms."""

    def __init__(self, number, row):
        en, en_pl, tags, fr, fr_pl, fr_gender, de, de_pl, de_gender, ja = row
        size = len(en.split())
        self.number, self.name = number, en
        self.tags = tags = _tags(en, tags)
        self.pronoun = next((p for p in ("he", "she", "one") if p in tags), "it")
        self.mass = "mass" in tags
        self.english = _english(en), _english(en_pl)  # singular, plural
        self.french = _form(fr, size), _form(fr_pl, size)
        self.french_gender = fr_gender
        self.german_gender, _, weak = de_gender.partition(" ")
        self.german = _german_cases(de, de_pl, weak, size)  # (case, plural) -> form
        self.japanese = self.japanese_plural = _form(ja, size)
        if "person" in tags and "same" not in tags:
            self.japanese_plural += _form("tachi", size)
        self.japanese_counts = _counts(tags)  # two, three; None where not natural


class Adjective:
    """An adjective with its forms."""

    def __init__(self, number, row):
        en, tags, rank, m, f, m_pl, f_pl, place, de, ja = row
        self.number, self.name = number, en
        self.tags = frozenset(tags.split())
        self.rank = int(rank)
        # Adjectives on one scale exclude each other.
        self.scale = _SCALES.get(rank) or _SCALES.get(en, en)
        keys = (("m", False), ("f", False), ("m", True), ("f", True))  # gender, plural
        forms = (tuple(form.split()) for form in (m, f, m_pl, f_pl))
        self.french = dict(zip(keys, forms, strict=True))
        where, _, self.french_vowel = place.partition(" ")
        self.french_before = where == "pre"
        self.german, self.german_stem = de.split()[0], de.split()[-1]
        self.japanese_class, self.japanese = ja.split()


class Verb:
    """A verb with its forms in the third person of the present."""

    def __init__(self, number, row):
        s, base, frame, subjects, objects, flags, fr, fr_pl, de, de_pl, *ja = row
        size = len(base.split())
        self.number, self.name, self.frame = number, base, frame
        self.subjects, self.objects = tuple(subjects.split()), tuple(objects.split())
        self.flags = frozenset(flags.split())
        self.english = _english(s), _english(base)
        self.french = _form(fr, size), _form(fr_pl, size)  # singular, plural
        german = [_form(cell, size) for cell in (de, de_pl)]
        self.german = tuple(tuple(t for t in f if t[0][0] != "+") for f in german)
        prefix = (t for t in german[0] if t[0][0] == "+")
        self.german_prefix = tuple((word[1:], parts) for word, parts in prefix)
        stem, plain, negative = ja
        self.japanese = {
            "masu": _form(stem + "masu", size),
            "masen": _form(stem + "masen", size),
            "plain": _form(plain, size),
            "negative": _form(negative, size),
        }


class Word:
    """An adverb or preposition."""

    def __init__(self, row):
        self.name, self.kind, *others = row
        self.english = _english(self.name)
        size = len(self.english)
        self.french, self.german, self.japanese = (_form(x, size) for x in others)


def _form(cell, size=1):
    """Read a cell: ((token, (English tokens it stands for)), ...)."""
    form = []
    for item in cell.split():
        word, _, mark = item.partition("/")
        if mark == "-":
            parts = ()
        else:
            parts = tuple(int(c) for c in mark) if mark else tuple(range(size))
        form.append((word, parts))
    return tuple(form)


def _english(cell):
    return tuple((word, (i,)) for i, word in enumerate(cell.split()))


def _tags(name, tags):
    """Return the tags of a noun, and those that follow from them."""
    tags = set(tags.split())
    if "thing" in tags and "grows" not in tags:
        tags.add("made")
    if "place" in tags:
        tags.add("single")
    if "person" in tags and name not in ("boy", "girl", "child"):
        tags.add("grown")
    if "place" in tags and ("built" in tags or "room" not in tags):
        tags.add("sight")
    return frozenset(tags)


def _german_cases(singular, plural, weak, size):
    dative = plural if plural[-1] in "ns" else plural + "n"
    forms = {
        ("nom", False): singular,
        ("acc", False): weak or singular,
        ("dat", False): weak or singular,
        ("nom", True): plural,
        ("acc", True): plural,
        ("dat", True): dative,
    }
    return {key: _form(text, size) for key, text in forms.items()}


def _counts(tags):
    if "person" in tags:
        return ("futari", "sannin")
    if "animal" in tags and "wing" not in tags:
        return ("nitō", "santō") if "large" in tags else ("nihiki", "sanbiki")
    if "tsu" in tags or ("food" in tags and "mass" not in tags):
        return ("futatsu", "mittsu")
    return None


_TABLES = {
    name: [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    for name, text in read_table("languages/words").items()
}
NOUNS = tuple(Noun(i, row) for i, row in enumerate(_TABLES["nouns"]))
ADJECTIVES = tuple(Adjective(i, row) for i, row in enumerate(_TABLES["adjectives"]))
VERBS = tuple(Verb(i, row) for i, row in enumerate(_TABLES["verbs"]))
ADVERBS = tuple(map(Word, _TABLES["adverbs"]))
PREPOSITIONS = tuple(map(Word, _TABLES["prepositions"]))
