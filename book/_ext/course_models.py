"""Put the weights of the translators where the pages can load them.

A page may not fetch a file when it is opened from a folder, but it may load a script.
So the weights are scripts, one for each language, which a page loads when the reader
starts the translator.
"""

from pathlib import Path


def write_weights(app, exception):
    if exception or app.builder.format != "html":
        return
    from attncourse.widgets._models import LANGUAGES, weights_script

    folder = Path(app.outdir) / "_static" / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for language in LANGUAGES:
        path = folder / f"translation_{language}.js"
        path.write_text(weights_script(language), encoding="utf8")


def setup(app):
    app.connect("build-finished", write_weights)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
