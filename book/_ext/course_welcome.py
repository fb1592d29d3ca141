"""Put a sentence with the attention of a trained model on the welcome page.

The weights come from the translator that the package ships, and are computed when the
page is built. Without JavaScript the page shows the weights of one word in one head.
"""

import json

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
        "words": [*words, "end"],
        "trained": weights_of(model, ids),
        "untrained": weights_of(untrained, ids),
    }


def choices(name, options):
    """Return a group of buttons, the first option of which is (value, text, chosen)."""
    buttons = "".join(
        f'<button type="button" data-value="{value}" aria-pressed="{str(on).lower()}">'
        f"{text}</button>"
        for value, text, on in options
    )
    return f'<div role="group" aria-label="{name}"><span>{name}</span>{buttons}</div>'


def hero(data):
    """Return the figure as HTML, with one word's weights already in it."""
    layer, head = SHOWN
    row = data["trained"][layer][head][ASKER]
    best = max(range(len(row)), key=row.__getitem__)
    words = "".join(
        f'<button type="button" aria-pressed="{str(i == ASKER).lower()}" '
        f'style="--w:{weight}%"><span>{word}</span>'
        f"<small>{weight / 100:.2f}</small></button>"
        for i, (word, weight) in enumerate(zip(data["words"], row, strict=True))
    )
    heads = [
        (f"{i}.{j}", f"{j}", (i, j) == SHOWN)
        for i, of_layer in enumerate(data["trained"])
        for j in range(len(of_layer))
    ]
    half = len(heads) // 2
    return (
        '<div class="hero"><p class="hero-hint">Point at a word, tap it, or press '
        "<kbd>Tab</kbd>: it reads the others.</p>"
        '<div class="hero-stage"><svg aria-hidden="true"></svg>'
        f'<div class="hero-words" role="group" aria-label="Sentence">{words}'
        "</div></div>"
        f'<p class="hero-says" role="status">Encoder layer {layer}, head {head}: '
        f"<b>“{data['words'][ASKER]}”</b> reads mostly from "
        f"<b>“{data['words'][best]}”</b>, with weight {row[best] / 100:.2f}.</p>"
        '<div class="hero-controls">'
        + choices("Layer 0, head", heads[:half])
        + choices("Layer 1, head", heads[half:])
        + choices(
            "Model", [("trained", "trained", True), ("untrained", "untrained", False)]
        )
        + '</div><script type="application/json" id="hero-data">'
        + json.dumps(data, separators=(",", ":"))
        + "</script></div>"
    )


def fill_page(app, page, template, context, doctree):
    if page == PAGE and PLACE in context.get("body", ""):
        context["body"] = context["body"].replace(PLACE, hero(attention()))
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app):
    app.connect("html-page-context", fill_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
