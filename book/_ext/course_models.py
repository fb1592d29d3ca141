"""Put the weights of the models where the pages can load them.

A page may not fetch a file when it is opened from a folder, but it may load a script.
So the weights are scripts, one for each model, which a page loads when it is needed.
"""

from pathlib import Path


def write_weights(app, exception):
    if exception or app.builder.format != "html":
        return
    from attncourse.widgets._models import FILES, weights_script

    folder = Path(app.outdir) / "_static" / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in FILES.items():
        script = weights_script(name)
        (folder / f"{file}.js").write_text(script, encoding="utf8")


def setup(app):
    app.connect("build-finished", write_weights)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
