"""Put a sentence with the attention of a trained model on the welcome page.

The weights come from the translator that the package ships, and are computed when the
page is built. Without JavaScript the page shows the weights of one word in one head.
"""

import json
from pathlib import Path

from jinja2 import Template

FIGURE = Path(__file__).with_name("hero.html")
PAGE = "book/index"
PLACE = '<div id="hero"></div>'
SCRIPT = "welcome.js"
SENTENCE = "The garden that the mother loves is big because it is old ."
ASKER, SHOWN = 9, (1, 0)  # "it", and the layer and head that it is shown in


def weights_of(model, ids):
    """Return the encoder's weights as hundredths ``[layer][head][query][key]``."""
    import torch

    with torch.no_grad():
        weights = model.encode(ids, need_weights=True)[2]
    return [(100 * layer[0]).round().int().tolist() for layer in weights]


def attention():
    """Return the words of the sentence and the weights, trained and untrained."""
    import torch

    import attncourse
    from attncourse.recorded import load_model

    model, record = load_model("translation_french")
    words = SENTENCE.split()
    source = record["vocabularies"]["source"]
    ids = torch.tensor([source.encode([w.lower() for w in words], eos=True)])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        untrained = getattr(attncourse, record["class"])(**record["arguments"]).eval()
    return {
        "words": [*words, "⟨end⟩"],
        "trained": weights_of(model, ids),
        "untrained": weights_of(untrained, ids),
    }


def hero(data):
    """Return the figure as HTML, with one word's weights already in it."""
    layer, head = SHOWN
    row = data["trained"][layer][head][ASKER]
    best = row.index(max(row))
    template = Template(FIGURE.read_text(encoding="utf8"), autoescape=True)
    return template.render(
        data=data,
        row=row,
        best=best,
        asker=ASKER,
        layer=layer,
        head=head,
        text=json.dumps(data, separators=(",", ":")),
    )


def fill_page(app, page, template, context, doctree):
    if page == PAGE and PLACE in context.get("body", ""):
        context["body"] = context["body"].replace(PLACE, hero(attention()))
        app.add_js_file(SCRIPT)


def setup(app):
    app.connect("html-page-context", fill_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
