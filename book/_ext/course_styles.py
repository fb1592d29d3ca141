"""Leave out of the theme's style sheets the rules for what no page has.

The theme's sheets have rules for every part that a site might use: 440 kB, of which
this book needs a third. A rule goes if it asks for a class or an id that occurs
nowhere, as a word, in the pages or in the scripts. That keeps too much rather than
too little. Sphinx copies the full sheets again at each build, so that nothing is lost
for good.
"""

import re
from pathlib import Path

TOKEN = re.compile(
    r"""/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|url\([^"')]*\)|[{};]|[^{};"'/u]+|.""",
    re.DOTALL,
)
COMMENT = re.compile(r"/\*(?!!).*?\*/", re.DOTALL)
NOTICES = re.compile(r"(?:\s*/\*!.*?\*/)+", re.DOTALL)
BRACKETS = re.compile(r"\[[^\]]*\]|\([^()]*\)")
NAME = re.compile(r"[.#]((?:\\.|[\w-])+)")
WORD = re.compile(r"[\w-]+")
NESTED = ("@media", "@supports", "@layer", "@container")
MADE_BY_SCRIPT = ("bs-",)  # put together from parts
OURS = ("custom.css", "icons.css", "widgets.css")


def blocks_of(text):
    """Yield (what stands before a block, its content); content None: a statement."""
    before, inside, depth = [], [], 0
    for token in TOKEN.findall(text):
        if token == "}":
            depth -= 1
            if depth == 0:
                yield "".join(before), "".join(inside)
                before, inside = [], []
                continue
        elif token == ";" and depth == 0:
            yield "".join(before), None
            before = []
            continue
        if depth:
            inside.append(token)
        elif token != "{":
            before.append(token)
        if token == "{":
            depth += 1


def selectors_of(text):
    """Split a list of selectors at its commas, but not within brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def is_used(selector, words):
    """Say whether all classes and ids that a selector asks for may occur."""
    plain = selector
    while (shorter := BRACKETS.sub("", plain)) != plain:
        plain = shorter
    names = (name.replace("\\", "") for name in NAME.findall(plain))
    return all(
        name.startswith(MADE_BY_SCRIPT) or set(WORD.findall(name)) <= words
        for name in names
    )


def without_unused(text, words):
    """Return a style sheet without the rules for classes and ids that are not words."""
    kept = []
    for before, inside in blocks_of(COMMENT.sub("", text)):
        notices = NOTICES.match(before)
        if notices:
            kept.append(notices[0].strip())
            before = before[notices.end() :]
        before = before.strip()
        if inside is None:
            kept.append(f"{before};")
        elif before.startswith(NESTED):
            if rules := without_unused(inside, words):
                kept.append(f"{before}{{{rules}}}")
        elif before.startswith("@"):
            kept.append(f"{before}{{{inside}}}")
        else:
            used = [s for s in selectors_of(before) if is_used(s, words)]
            if used:
                kept.append(f"{','.join(used)}{{{inside}}}")
    return "".join(kept)


def words_of(site):
    """Return every word of the pages and scripts of a site."""
    words = set()
    for path in [*site.rglob("*.html"), *site.rglob("*.js")]:
        if path.parent.name != "models":
            words.update(WORD.findall(path.read_text(encoding="utf8")))
    return words


def lighten_styles(app, exception):
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    words = words_of(site)
    for path in (site / "_static").rglob("*.css"):
        if path.name not in OURS:
            text = path.read_text(encoding="utf8")
            path.write_text(without_unused(text, words), encoding="utf8")


def setup(app):
    # after course_local, which changes the same files
    app.connect("build-finished", lighten_styles, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
