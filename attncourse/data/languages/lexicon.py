"""The words of the grammar, read from the tables in ``words.toml``."""

from dataclasses import dataclass

from attncourse.data._files import read_table


@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun with its forms; forms are tuples of (token, English tokens it renders)."""

    number: int
    name: str
    tags: frozenset
    pronoun: str
    mass: bool
    english: tuple  # singular, plural
    french: tuple
    french_gender: str
    german: dict  # (case, plural) -> form
    german_gender: str
    japanese: tuple
    japanese_plural: tuple
    japanese_counts: tuple  # two, three; None where they would not be natural


@dataclass(frozen=True, eq=False, slots=True)
class Adjective:
    """An adjective with its forms."""

    number: int
    name: str
    tags: frozenset
    rank: int
    scale: str  # adjectives on one scale exclude each other
    french: dict  # (gender, plural) -> form
    french_before: bool
    french_vowel: str
    german: str
    german_stem: str
    japanese_class: str
    japanese: str


@dataclass(frozen=True, eq=False, slots=True)
class Verb:
    """A verb with its forms in the third person of the present."""

    number: int
    name: str
    frame: str
    subjects: tuple
    objects: tuple
    flags: frozenset
    english: tuple  # form with -s, base
    french: tuple  # singular, plural
    german: tuple
    german_prefix: tuple
    japanese: dict  # "masu", "masen", "plain", "negative" -> form


@dataclass(frozen=True, eq=False, slots=True)
class Word:
    """An adverb or preposition."""

    name: str
    kind: str
    english: tuple
    french: tuple
    german: tuple
    japanese: tuple


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


def _rows(table):
    for line in _TABLES[table].strip().splitlines():
        yield [cell.strip() for cell in line.split("|")]


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


def _noun(number, row):
    en, en_pl, tags, fr, fr_pl, fr_gender, de, de_pl, de_gender, ja = row
    tags = set(tags.split())
    if "thing" in tags and "grows" not in tags:
        tags.add("made")
    if "place" in tags:
        tags.add("single")
    if "person" in tags and en not in ("boy", "girl", "child"):
        tags.add("grown")
    if "place" in tags and ("built" in tags or "room" not in tags):
        tags.add("sight")
    tags = frozenset(tags)
    size = len(en.split())
    gender, _, weak = de_gender.partition(" ")
    japanese = _form(ja, size)
    many = "person" in tags and "same" not in tags
    return Noun(
        number=number,
        name=en,
        tags=tags,
        pronoun=next((p for p in ("he", "she", "one") if p in tags), "it"),
        mass="mass" in tags,
        english=(_english(en), _english(en_pl)),
        french=(_form(fr, size), _form(fr_pl, size)),
        french_gender=fr_gender,
        german=_german_cases(de, de_pl, weak, size),
        german_gender=gender,
        japanese=japanese,
        japanese_plural=japanese + _form("tachi", size) if many else japanese,
        japanese_counts=_counts(tags),
    )


_SCALES = {"1": "size", "3": "age", "4": "colour"}
_SCALES |= {"expensive": "price", "cheap": "price", "hot": "heat", "cold": "heat"}


def _adjective(number, row):
    en, tags, rank, m, f, m_pl, f_pl, place, de, ja = row
    where, _, vowel = place.partition(" ")
    stem = de.split()
    kind, form = ja.split()
    return Adjective(
        number=number,
        name=en,
        tags=frozenset(tags.split()),
        rank=int(rank),
        scale=_SCALES.get(rank) or _SCALES.get(en, en),
        french={
            ("m", False): tuple(m.split()),
            ("f", False): tuple(f.split()),
            ("m", True): tuple(m_pl.split()),
            ("f", True): tuple(f_pl.split()),
        },
        french_before=where == "pre",
        french_vowel=vowel,
        german=stem[0],
        german_stem=stem[-1],
        japanese_class=kind,
        japanese=form,
    )


def _verb(number, row):
    s, base, frame, subjects, objects, flags, fr, fr_pl, de, de_pl, *ja = row
    size = len(base.split())
    stem, plain, negative = ja
    german = [_form(cell, size) for cell in (de, de_pl)]
    prefix = tuple((w[1:], parts) for w, parts in german[0] if w.startswith("+"))
    return Verb(
        number=number,
        name=base,
        frame=frame,
        subjects=tuple(subjects.split()),
        objects=tuple(objects.split()),
        flags=frozenset(flags.split()),
        english=(_english(s), _english(base)),
        french=(_form(fr, size), _form(fr_pl, size)),
        german=tuple(tuple(t for t in form if t[0][0] != "+") for form in german),
        german_prefix=prefix,
        japanese={
            "masu": _form(stem + "masu", size),
            "masen": _form(stem + "masen", size),
            "plain": _form(plain, size),
            "negative": _form(negative, size),
        },
    )


def _word(row):
    en, kind, fr, de, ja = row
    size = len(en.split())
    return Word(
        en, kind, _english(en), _form(fr, size), _form(de, size), _form(ja, size)
    )


_TABLES = read_table("languages/words")

NOUNS = tuple(_noun(i, row) for i, row in enumerate(_rows("nouns")))
ADJECTIVES = tuple(_adjective(i, row) for i, row in enumerate(_rows("adjectives")))
VERBS = tuple(_verb(i, row) for i, row in enumerate(_rows("verbs")))
ADVERBS = tuple(_word(row) for row in _rows("adverbs"))
PREPOSITIONS = tuple(_word(row) for row in _rows("prepositions"))
