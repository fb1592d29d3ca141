"""No measurement is typed into the prose: a number that looks like one has a source.

What looks like a measurement is

- a number with a decimal point;
- a number, in digits or in words, beside a unit of quality: %, points, BLEU, nats, …;
- a ratio: "three times", "4 ×", "tenfold"; a share: "half the time", "a third of such
  questions";
- a number of seconds to days, of bytes, or of "times as long" and the like.

It may stand in the text of a chapter or a page or in a caption if

- a source is cited in the same paragraph, list item or row of a table;
- a compared cell of the same chapter prints it, as 94 in "BLEU of at least 94: True",
  or its code sets it. A percentage may be set as a share, 0.94. A ratio has to be
  printed or set as one: "8x", "three times". A share has to be printed in these words;
- it is in code, in a formula or in the target of a link;
- it belongs to a question put to the reader, in a prediction or under "Test yourself",
  where numbers are made up or worked out.

Time, size and speed depend on the machine: for them only a citation is an excuse. What
a cell tagged ``nbval-ignore-output`` prints may differ from run to run, and is none
either. So the prose points at the output and does not repeat it. The minutes of "Time
to read" are no measurement.
"""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("book/*.md")])

SMALL = "one two three four five six seven eight nine ten eleven twelve"
TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
WORDS = {word: n for n, word in enumerate(re.split(" ", SMALL), 1)}
WORDS |= {word: 10 * n for n, word in enumerate(re.split(" ", TENS), 1)}
WORDS |= {"thousand": 1000, "million": 10**6}
DIGITS = r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\d.,]*\w)"
COUNT = rf"(?P<n>{DIGITS}|\b(?:{'|'.join(WORDS)})\b)"
QUALITY = r"(?:%|per\s?cent|points?\b(?! each)|BLEU|ROUGE|nats?\b|bits?\b)"
MACHINE = (
    r"(?:ns|µs|ms|s|seconds?|minutes?|hours?|days?|[KMG]i?B|[kmg]igabytes?"
    r"|(?:times|×)\s(?:as\s(?:long|fast|slow)|faster|slower|longer))\b"
)
SCORE = r"(?:BLEU|ROUGE-\w+)"
PARTS = "half|thirds?|quarters?|fifths?|tenths?"
THINGS = (
    r"time|answers|questions|sentences|words|cases|memory|loss|cost|weight|attention"
    r"|pronouns|gap|score"
)
KINDS = {
    "machine": rf"{COUNT}[\s-]?{MACHINE}|\ban?\s(?:minute|hour)\b",
    "quality": rf"{COUNT}\s?{QUALITY}|{SCORE}\s(?:of\s|is\s)?(?P<m>{DIGITS})",
    "ratio": rf"{COUNT}\s?(?:times\b|×(?!\s?\d)|-?fold\b)",
    "share": (
        rf"\b(?:{PARTS})\s(?:of\s)?"
        rf"(?:(?:the|all|its|such|their)\s)?(?:{THINGS})\b"
    ),
    "decimal": r"(?<![\w.,])(?P<n>\d[\d,]*\.\d+)(?![\d.,]*\w)",
}
WORKS = re.findall(
    r"^  url = \{(.+?)\}", (ROOT / "book/references.bib").read_text("utf-8"), re.M
)
CITATION = re.compile(rf"\]\((?:{'|'.join(map(re.escape, WORKS))})\)")
HARMLESS = [
    r"```.*?```|~~~.*?~~~",  # code
    r"\$\$.*?\$\$|\$[^$\n]+\$",  # formulas
    r"`[^`\n]*`",  # code
    r"(?<=\])\([^)\s]*\)|<https?:[^>]*>",  # targets of links
    r"Time to read: \d+ minutes",
    r"(?:[Ss]ection|[Cc]hapter|[Tt]able|[Ff]igure|version|Python|CC BY) \d+(?:\.\d+)*",
]
QUESTIONS = [
    r"^> \*\*Predict\.\*\*.*?$(?!\n>)",
    r"^## Test yourself$.*?(?=^## |\Z)",
]


def number(text):
    return WORDS[text] if text in WORDS else float(text.replace(",", ""))


def numbers(text):
    """Return all numbers of some code or output."""
    return {number(n) for n in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text) if n}


def paragraphs(text):
    """Cut a text at empty lines, and before each item of a list or row of a table."""
    return re.split(r"\n\s*\n|\n(?=\s*(?:[|:*-]|\d+\.)\s)", text)


def is_allowed(kind, match, printed, code):
    if kind == "machine":
        return False
    if kind == "share":
        return match[0] in printed
    found = match.groupdict()
    value = number(found["n"] or found["m"])
    if kind == "ratio":
        said = [rf"\b{w} times" for w, v in WORDS.items() if v == value]
        said += [rf"\b{value:g} ?[x×]", rf"[*×] ?{value:g}\b", rf"\b{value:g} \*"]
        return any(re.search(pattern, printed + code) for pattern in said)
    return bool({value, value / 100} & (numbers(printed) | numbers(code)))


def measures_in(text, printed="", code=""):
    """Return what looks like a measurement in a text and has no source."""
    found = []
    for pattern in QUESTIONS:
        text = re.sub(pattern, "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(HARMLESS[0], "", text, flags=re.DOTALL)
    for paragraph in paragraphs(text):
        if CITATION.search(paragraph):
            continue
        for pattern in HARMLESS:
            paragraph = re.sub(pattern, " ", paragraph, flags=re.DOTALL)
        for kind, pattern in KINDS.items():
            for match in re.finditer(pattern, paragraph):
                if not is_allowed(kind, match, printed, code):
                    found.append(match[0])
            paragraph = re.sub(pattern, " ", paragraph)  # each is found once
    return found


def parts_of(path):
    """Return the prose of a page, what its compared cells print, and its code."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8"), "", ""
    prose, printed, code = [], [], []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source, metadata = "".join(cell["source"]), cell["metadata"]
        if cell["cell_type"] == "markdown":
            prose.append(source)
            continue
        code.append(source)
        prose += metadata.get("mystnb", {}).get("figure", {}).values()
        prose.append(metadata.get("mystnb", {}).get("image", {}).get("alt", ""))
        if "nbval-ignore-output" not in metadata.get("tags", []):
            texts = [o.get("text", "") for o in cell["outputs"]]
            printed += ["".join(text) for text in texts]
    return "\n\n".join(map(str, prose)), "\n".join(printed), "\n".join(code)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_no_measurement_is_typed_into_a_page(path):
    assert measures_in(*parts_of(path)) == []


POST = "[Post (2018)](https://arxiv.org/abs/1804.08771)"


@pytest.mark.parametrize(
    "planted",
    [
        "It gets 97.3 right.",
        "It gets 93 % of them right.",
        "BLEU of 93, which is good",
        "BLEU rises to 98.7 with attention",
        "ROUGE-1 of 61",
        "four points better",
        "The loss falls to 3 nats.",
        "Local attention is 7 times faster.",
        "It is three times as large.",
        "a 12-fold gain",
        "7 × the memory",
        "It takes half the time.",
        "wrong in a third of such questions",
        "Time to run: about 80 seconds.",
        "It needs two minutes and 3 GB.",
        "It takes less than a minute.",
        "| model | 98.6 |",
        f"Cited before: {POST}.\n\nOurs gets 98.6.",
        f"- {POST}: 31.2\n- ours: 98.6",
        "[No work](https://example.org) reports 98.6.",
    ],
)
def test_a_planted_measurement_is_found(planted):
    assert len(measures_in("First.\n\n" + planted + "\n\nLast.")) >= 1


@pytest.mark.parametrize(
    "harmless",
    [
        "Chapter 3 has two heads of width 16, in 12 layers.",
        "images of 16 × 16 pixels",
        "The weights are $0.6$ and `0.35`; $e^{2.5}$ is not measured.",
        "$$\nx = 0.99^{12}\n$$",
        "```python\nrate = 0.05\n```",
        f"{POST} reports a BLEU of 26.8, one point above 25.8.",
        "Python 3.10 or newer; see section 3.2 and <https://a.org/1.5>.",
        "[a link](../chapters/x.ipynb#at-99.5)",
        "*Time to read: 30 minutes.*",
        "> **Predict.** Is it above 50 %?\n>\n> Or 60 %?",
        "## Test yourself\n\nA head gives 0.5.\n\n## Take-aways",
        "half precision, the second half of the sequence",
        "1. the first\n2. the second",
        "Five exercises of 20 points each.",
    ],
)
def test_a_harmless_number_is_left_alone(harmless):
    assert measures_in("First.\n\n" + harmless + "\n\nLast.") == []


def test_what_a_compared_cell_prints_may_be_said():
    printed = "BLEU of at least 94: True\nat 8x better: True\nover 90 %"
    text = "It has a BLEU of 94, is better at eight times the length, and 90 % right."
    assert measures_in(text, printed=printed) == []
    assert len(measures_in(text)) == 3
    assert measures_in("BLEU of 95", printed=printed) == ["BLEU of 95"]


def test_a_setting_may_be_said_but_is_no_excuse_for_time_or_ratios():
    code = "rate = 0.002\nsteps = 30\nlimit = 0.95"
    assert measures_in("the rate 0.002, over 95 %", code=code) == []
    assert measures_in("in 30 seconds", code=code) == ["30 seconds"]
    assert measures_in("30 times more", code=code) == ["30 times"]


def test_captions_are_prose_and_only_what_is_compared_counts_as_printed(tmp_path):
    metadata = {"mystnb": {"figure": {"caption": "to 97.3"}, "image": {"alt": "96.1"}}}
    cell = {"cell_type": "code", "metadata": metadata, "source": ["print(score)"]}
    cell["outputs"] = [{"output_type": "stream", "text": ["97.3"]}]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [cell]}))
    assert measures_in(*parts_of(path)) == ["96.1"]
    metadata["tags"] = ["nbval-ignore-output"]
    path.write_text(json.dumps({"cells": [cell]}))
    assert measures_in(*parts_of(path)) == ["97.3", "96.1"]
