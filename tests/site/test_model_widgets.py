"""The widgets of trained models, moved by mouse and by keyboard on the built pages."""

import base64
import json
import re
from itertools import pairwise

import numpy as np
import pytest
import torch

from attncourse import Transformer, recorded
from attncourse.data.text import tokenise
from attncourse.training.translation import translate
from tests.site.watching import PHONE, go

STATE = """name => {
  const states = Object.values(window.courseWidgetStates);
  const own = `widget("${name}"`;
  const all = states.map(one => one.state).filter(one => one._esm?.includes(own));
  return all.find(one => one.models?.length !== 1);
}"""


@pytest.fixture
def tab(open_tab):
    """Open a tab of a telephone; faults on the way fail the test."""
    return open_tab(viewport=PHONE, reduced_motion="reduce")


def widget(tab, base, chapter, name):
    go(tab, f"{base}chapters/{chapter}.html")
    return tab.locator(f"section[data-widget={name}]")


def report(found):
    return found.locator(".attn-report").first.inner_text()


def cell(found, row, column):
    """Return a number of the large picture, in per cent."""
    line = found.locator(".attn-grid tbody tr").nth(row)
    return int(line.locator("td").nth(column).inner_text() or 0)


def test_the_weights_wait_for_the_reader(tab, address):
    tab.goto(address + "chapters/10_gpt.html", wait_until="networkidle")
    loaded = "performance.getEntries().some(e => e.name.includes('/models/'))"
    field = tab.locator("section[data-widget=gpt] textarea")
    field.wait_for()
    assert not tab.evaluate(loaded)
    field.focus()
    tab.wait_for_function(loaded)


def test_the_first_press_is_kept_until_the_model_has_come(tab, address):
    tab.goto(address + "chapters/10_gpt.html")
    widget = tab.locator("section[data-widget=gpt]")
    begun = widget.locator("textarea").input_value()
    widget.get_by_role("button", name="Continue").click()
    widget.get_by_role("button", name="Stop").wait_for()
    tab.wait_for_function(
        "begun => document.querySelector('[data-widget=gpt] textarea').value > begun",
        arg=begun,
    )


# The translator -----------------------------------------------------------------------


@pytest.fixture
def translator(tab, address):
    found = widget(tab, address, "06_seq2seq", "translator")
    found.get_by_role("button", name="Start the translator").focus()
    tab.keyboard.press("Enter")
    done(found)
    assert tab.evaluate("document.activeElement.textContent") == "Translate"
    return found


def done(found):
    found.page.wait_for_selector(
        "section[data-widget=translator][data-state=done]", timeout=20_000
    )


def words_of(found):
    words = found.locator(".attn-word").all_inner_texts()
    assert words[-1] == "<eos>"
    return words[:-1]


def by_torch(language, sentence, *, off=(), temperature=1.0):
    """Return the translation and the cross-attention, heads first."""
    model, record = recorded.load_model(f"translation_{language}")
    for name in off:
        place, layer, head = name.split(".")
        assert place == "encoder"
        part = model.encoder[int(layer)].attention
        columns = slice(int(head) * part.d_head, (int(head) + 1) * part.d_head)
        part.output_proj.weight.data[:, columns] = 0
    for name, weight in model.named_parameters():
        if "query_proj" in name:
            weight.data /= temperature
    source_words, target_words = record["vocabularies"].values()
    source = tokenise(sentence)
    words = translate(model, [source], source_words, target_words)[0]
    ids = torch.tensor([source_words.encode(source, eos=True)])
    target = torch.tensor([target_words.encode(words, eos=True)])
    with torch.no_grad():
        _, weights = model(ids, target, need_weights=True)
    return words, weights["cross"][0][0].numpy()


LIBRARY = "The library is old because it is big."


def test_the_translator_writes_what_pytorch_writes(translator):
    words, weights = by_torch("french", LIBRARY)
    assert words_of(translator) == words
    for row in range(len(words) + 1):
        for column in range(weights.shape[-1]):
            shown = cell(translator, row, column)
            assert abs(shown - 100 * weights[0, row, column]) < 0.51


def test_a_head_is_switched_off_by_mouse_and_by_keyboard(tab, translator):
    box = translator.get_by_label("encoder layer 1, head 0 is on")
    box.click()
    words, _ = by_torch("french", LIBRARY, off=["encoder.1.0"])
    assert words_of(translator) == words
    assert "1 head ablated" in report(translator)
    assert translator.locator(".attn-changed").count() > 0
    box.focus()
    tab.keyboard.press("Space")
    assert words_of(translator) == by_torch("french", LIBRARY)[0]
    assert translator.locator(".attn-changed").count() == 0


def test_the_temperature_moves_with_the_arrow_keys(tab, translator):
    translator.locator("input[type=range]").focus()
    for _ in range(12):
        tab.keyboard.press("ArrowRight")
    assert translator.locator("output").inner_text() == "3.98"
    words, weights = by_torch("french", LIBRARY, temperature=3.9811)
    assert words_of(translator) == words
    assert abs(cell(translator, 0, 0) - 100 * weights[0, 0, 0]) < 0.51
    assert "temperature 3.98" in report(translator)


def test_a_picture_of_a_head_is_chosen_and_walked_through(tab, translator):
    translator.get_by_role("button", name="Show cross-attention, head 2").click()
    _, weights = by_torch("french", LIBRARY)
    assert abs(cell(translator, 1, 1) - 100 * weights[2, 1, 1]) < 0.51
    translator.locator(".attn-cell[tabindex='0']").focus()
    before = tab.evaluate("document.activeElement.getAttribute('aria-label')")
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    after = tab.evaluate("document.activeElement.getAttribute('aria-label')")
    assert after != before
    assert " on library: " in after


def test_the_arrow_keys_walk_over_pictures_switches_and_words(tab, translator):
    translator.get_by_role("button", name="Show cross-attention, head 1").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    _, weights = by_torch("french", LIBRARY)
    assert abs(cell(translator, 1, 1) - 100 * weights[2, 1, 1]) < 0.51
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Home")
    tab.keyboard.press("Space")
    assert not translator.get_by_label("encoder layer 0, head 0 is on").is_checked()
    translator.locator(".attn-word").first.click()
    tab.keyboard.press("ArrowRight")
    second = translator.locator(".attn-word").nth(1)
    assert second.get_attribute("aria-pressed") == "true"
    assert second.evaluate("node => node === document.activeElement")


def test_another_language_is_loaded_when_it_is_chosen(translator):
    for language in ("German", "Japanese"):
        translator.get_by_label(language, exact=True).check()
        words, _ = by_torch(language.lower(), LIBRARY)
        first = translator.locator(".attn-word").first
        first.get_by_text(words[0], exact=True).or_(
            first.filter(has_text=re.compile(f"^{words[0]}$"))
        ).wait_for(timeout=20_000)
        done(translator)
        assert words_of(translator) == words


def test_words_are_completed_by_keyboard_and_by_touch(tab, translator):
    field = translator.get_by_role("combobox")
    field.fill("")
    tab.keyboard.type("The washi")
    options = translator.get_by_role("option")
    assert options.all_inner_texts()[0] == "washing"
    tab.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant")
    tab.keyboard.press("Enter")
    assert field.input_value() == "The washing "
    options.filter(has_text="machine").first.click()
    assert field.input_value() == "The washing machine "
    tab.keyboard.type("is old.")
    tab.keyboard.press("Enter")
    done(translator)
    wanted, _ = by_torch("french", "The washing machine is old.")
    assert words_of(translator) == wanted


def test_an_unknown_word_is_named_and_near_ones_are_offered(tab, translator):
    field = translator.get_by_role("combobox")
    field.fill("The black caat sleeps.")
    tab.keyboard.press("Enter")
    assert "“caat” is not in the grammar" in report(translator)
    assert translator.locator(".attn-word").first.is_hidden()
    translator.get_by_role("button", name="cat", exact=True).click()
    done(translator)
    assert field.input_value() == "The black cat sleeps."
    assert words_of(translator) == by_torch("french", "The black cat sleeps.")[0]


NO_SENTENCES = {  # no two neighbours have the same answer
    "": "Type a sentence",
    "cat " * 45: "the limit is 40",
    ".": "Type a sentence",
    "The cat sleeps. The dog sees.": "one sentence at a time",
    "The cat zzyzx zzyzx": "“zzyzx” is not in the grammar. ",
    "The constructor sleeps.": "“constructor” is not in the grammar",
    "x" * 3000: "“" + 23 * "x" + "…” is not in the grammar",
}


def test_what_is_no_sentence_of_the_grammar_is_answered(tab, translator):
    field = translator.get_by_role("combobox")
    for text, answer in NO_SENTENCES.items():
        field.fill(text + " ")  # what can come next is offered
        field.fill(text)
        tab.keyboard.press("Enter")
        assert answer in report(translator)


def test_the_translator_works_from_a_folder(tab, site):
    found = widget(tab, site.as_uri() + "/", "06_seq2seq", "translator")
    found.get_by_role("button", name="Start the translator").click()
    done(found)
    assert words_of(found) == by_torch("french", LIBRARY)[0]


def test_nothing_is_loaded_before_the_reader_starts(browser, address):
    asked = []
    with browser.new_context(viewport=PHONE) as window:
        page = window.new_page()
        page.on("request", lambda sent: asked.append(sent.url))
        found = widget(page, address, "06_seq2seq", "translator")
        assert not [url for url in asked if "/models/" in url]
        found.get_by_role("button", name="Start the translator").click()
        done(found)
        assert [url.rsplit("/", 1)[1] for url in asked if "/models/" in url] == [
            "translation_french.js"
        ]


# Alignment ----------------------------------------------------------------------------


@pytest.fixture
def alignment(tab, address):
    return widget(tab, address, "06_seq2seq", "alignment").last  # the first is compact


def test_the_pronoun_follows_the_noun_at_the_start_of_chapter_06(tab, address):
    found = widget(tab, address, "06_seq2seq", "alignment").first
    assert "“il” attends to “it”" in report(found)
    found.get_by_role("radio", name="car").check()
    assert "“elle” attends to “it”" in report(found)
    assert "noire" in found.locator(".attn-target").inner_text()
    found.locator(".attn-target button").nth(4).click()
    assert "“voiture” attends to “car”" in report(found)


def test_a_word_shows_its_weights_by_mouse_and_by_keyboard(tab, alignment):
    state = tab.evaluate(STATE, "alignment")
    model = state["models"][0]
    pair, head = model["pairs"][0], model["best"]
    weights = np.array(pair["weights"][head]) / 1000
    targets = alignment.locator(".attn-target .attn-aligned")
    for index, move in ((1, None), (2, "ArrowDown"), (1, "ArrowUp")):
        if move is None:
            targets.nth(index).click()
        else:
            tab.keyboard.press(move)
        top = int(weights[index].argmax())
        said = f"“{pair['target'][index]}” attends to “{pair['source'][top]}”"
        assert f"{said} ({weights[index, top]:.2f})" in report(alignment)
        shown = alignment.locator(".attn-source .attn-share").nth(top)
        assert shown.inner_text() == f"{weights[index, top]:.2f}"
    tab.keyboard.press("ArrowLeft")
    top = int(weights[1].argmax())
    assert f"“{pair['source'][top]}” gets the most weight from" in report(alignment)


def test_words_that_look_elsewhere_are_marked_and_found(tab, alignment):
    state = tab.evaluate(STATE, "alignment")
    model = state["models"][0]
    pair = model["pairs"][0]
    links = {tuple(link) for link in pair["gold"]}
    tops = np.argmax(pair["weights"][model["best"]], axis=-1)
    linked = {t for _, t in links}
    wrong = [t for t, s in enumerate(tops) if t in linked and (s, t) not in links]
    targets = alignment.locator(".attn-target .attn-aligned")
    marked = [i for i, text in enumerate(targets.all_inner_texts()) if "✗" in text]
    assert marked == wrong
    assert int(alignment.get_attribute("data-wrong")) == len(wrong)
    button = alignment.get_by_role("button", name="Next word that attends elsewhere")
    button.focus()
    for t in wrong:
        tab.keyboard.press("Enter")
        assert report(alignment).startswith(f"“{pair['target'][t]}” attends to")
        assert "not on a gold link" in report(alignment)
    tab.keyboard.press("Enter")
    assert alignment.locator("select").input_value() != "0"


def test_another_translator_and_head_have_their_own_weights(tab, alignment):
    state = tab.evaluate(STATE, "alignment")
    model = next(one for one in state["models"] if one["name"] == "japanese")
    alignment.get_by_label("Japanese", exact=True).check()
    targets = alignment.locator(".attn-target .attn-aligned span:first-child")
    words = [
        text.removeprefix("✗ ").removeprefix("· ") for text in targets.all_inner_texts()
    ]
    assert words == model["pairs"][0]["target"]
    other = (model["best"] + 1) % 4
    alignment.get_by_label(str(other), exact=True).check()
    assert f"Head {other}:" in report(alignment)
    assert f"{model['errors'][other]:.3f}" in report(alignment)


# Sequence to sequence -----------------------------------------------------------------


def test_a_step_is_computed_from_its_scores(tab, address):
    found = widget(tab, address, "06_seq2seq", "seq2seq")
    case = tab.evaluate(STATE, "seq2seq")["cases"][0]
    rows = found.locator(".attn-scroll table").first.locator("tbody tr")

    def check(step, head):
        scores = np.array(case["steps"][step]["scores"][head]) / 1000
        weights = np.exp(scores) / np.exp(scores).sum()
        for i, weight in enumerate(weights):
            assert rows.nth(i).locator("td").nth(2).inner_text() == f"{weight:.2f}"
        top = case["source"][int(weights.argmax())]
        assert f"Step {step + 1}: head {head} attends most to “{top}”" in report(found)
        assert f"“{case['steps'][step]['word']}”" in report(found)

    check(0, 0)
    found.get_by_role("button", name="Next word").click()
    check(1, 0)
    found.locator("input[type=range]").focus()
    tab.keyboard.press("ArrowRight")
    check(2, 0)
    found.get_by_role("group", name="Head of").get_by_label("2", exact=True).check()
    check(2, 2)


def test_more_hypotheses_are_kept_when_the_reader_asks(tab, address):
    found = widget(tab, address, "06_seq2seq", "seq2seq")
    case = tab.evaluate(STATE, "seq2seq")["cases"][-1]
    found.locator("select").select_option("3")
    slider = found.locator("input[type=range]")
    slider.focus()
    tab.keyboard.press("End")
    for size in ("2", "4"):
        found.get_by_role("group", name="Hypotheses").get_by_label(size).check()
        kept = found.get_by_role("region", name="Hypotheses").locator("tbody tr")
        assert kept.count() == int(size)
        total = case["beams"][size][-1][0][2] / 1000
        shown = kept.first.locator("td").first.inner_text().replace("−", "-")
        assert float(shown) == pytest.approx(total, abs=0.005)
    assert "(wrong)" in found.inner_text()


# Heads --------------------------------------------------------------------------------


def loss_by_torch(state, text, off):
    """Return the loss of the predictable symbols, from the weights of the page."""
    from safetensors.torch import load

    weights = load(base64.b64decode(state["weights"]))
    vocabulary, width = weights["embedding.weight"].shape
    layers = len(state["scores"])
    model = Transformer(
        vocabulary, width, state["heads"], layers, positions="rotary", feedforward_dim=0
    )
    model.load_state_dict({name: w.float() for name, w in weights.items()})
    ids = [1 + state["signs"].index(sign) for sign in text]
    active = torch.ones(layers, state["heads"], dtype=torch.bool)
    for name in off:
        _, layer, head = name.split(".")
        active[int(layer), int(head)] = False
    with torch.no_grad():
        logits = model(torch.tensor([ids]), active_heads=active)[0].log_softmax(-1)
    pairs = list(pairwise(ids))
    known = [i for i, pair in enumerate(pairs) if pair in pairs[:i]]
    return -np.mean([logits[i, ids[i + 1]].item() for i in known])


@pytest.fixture
def heads(tab, address):
    return widget(tab, address, "03_multi_head", "heads")


def test_switching_a_head_off_changes_the_loss_as_in_pytorch(tab, heads):
    state = tab.evaluate(STATE, "heads")
    text = heads.locator("input[type=text]").input_value()

    def check(off):
        shown = float(heads.get_attribute("data-loss"))
        assert shown == pytest.approx(loss_by_torch(state, text, off), abs=2e-3)
        return shown

    whole = check([])
    heads.get_by_label("layer 0, head 2 is on").click()
    one = check(["layers.0.2"])
    heads.get_by_label("layer 0, head 3 is on").focus()
    tab.keyboard.press("Space")
    two = check(["layers.0.2", "layers.0.3"])
    assert len({whole, one, two}) == 3
    assert "Without layer 0, head 2; layer 0, head 3" in report(heads)
    heads.get_by_role("button", name="All heads on").click()
    check([])


def test_a_sequence_is_typed_and_a_wrong_sign_is_named(tab, heads):
    state = tab.evaluate(STATE, "heads")
    field = heads.locator("input[type=text]")
    field.fill("xyzaxyza")
    shown = float(heads.get_attribute("data-loss"))
    assert shown == pytest.approx(loss_by_torch(state, "XYZAXYZA", []), abs=2e-3)
    field.fill("ABC7")
    assert "does not know “7”" in report(heads)
    field.fill("A")
    assert "2 to 40" in report(heads)
    field.fill("ABC")
    assert "none is predictable" in report(heads)


def test_the_scores_stand_in_a_table(tab, heads):
    state = tab.evaluate(STATE, "heads")
    heads.get_by_text("The scores of all heads").click()
    row = heads.locator("tr", has_text="layer 1, head 0").last
    shown = [float(text) for text in row.locator("td").all_inner_texts()]
    names = ["previous", "duplicate", "induction", "first", "own", "entropy"]
    wanted = [state["scores"][1][name][0] for name in names]
    assert shown == pytest.approx(wanted, abs=0.0051)
    assert json.dumps(state["baseline"])  # what uniform attention has
