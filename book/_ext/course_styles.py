"""Leave out of the theme's style sheets the rules for what no page has.

The theme's sheets have rules for every part that a site might use: 440 kB, of which
this book needs a third. A rule goes if it asks for a class or an id that occurs
nowhere, as a word, in the pages or in the scripts. That keeps too much rather than
too little. Sphinx copies the full sheets again at each build, so that nothing is lost
for good.
"""

import re
from pathlib import Path

RULE = re.compile(r"([^{}@;]+)\{([^{}]*)\}")  # those within @media too
COMMENT = re.compile(r"/\*(?!!).*?\*/", re.DOTALL)
NOTICE = re.compile(r"/\*!.*?\*/", re.DOTALL)
COMMA = re.compile(r",(?![^()\[\]]*[)\]])")  # not one within brackets
NOTHING = re.compile(r"@(?:media|supports|layer|container)[^{}]*\{\s*\}")
BRACKETS = re.compile(r"\[[^\]]*\]|\([^()]*\)")
NAME = re.compile(r"[.#]((?:\\.|[\w-])+)")
WORD = re.compile(r"[\w-]+")
MADE_BY_SCRIPT = ("bs-",)  # put together from parts
OURS = ("custom.css", "icons.css", "widgets.css")


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

    def used(rule):
        kept = [s.strip() for s in COMMA.split(rule[1]) if is_used(s, words)]
        return f"{','.join(kept)}{{{rule[2]}}}" if kept else ""

    notices = "".join(NOTICE.findall(text))
    text = RULE.sub(used, COMMENT.sub("", NOTICE.sub("", text)))
    return notices + NOTHING.sub("", text)


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
