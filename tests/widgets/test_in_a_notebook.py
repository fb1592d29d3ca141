"""The translator where there is a kernel: weights on demand, traits in both directions.

The model of the widget is a stand-in with the methods that Jupyter's has; its messages
go to a real `Translator` in this process.
"""

import base64
import json

import pytest

from attncourse.widgets import Translator

MODEL = """async ({text, state}) => {
  const listeners = {};
  const emit = (name, ...values) =>
    (listeners[name] ?? []).slice().forEach(one => one(...values));
  const saved = [];
  window.model = {
    saved,
    get: name => state[name],
    set: (name, value) => {
      if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
      state[name] = value;
      saved.push([name, value]);
      emit(`change:${name}`);
    },
    save_changes: () => {},
    on: (name, one) => (listeners[name] ??= []).push(one),
    off: (name, one) =>
      listeners[name] = (listeners[name] ?? []).filter(other => other !== one),
    send: async content => {
      const [answer, coded] = await window.askPython(JSON.stringify(content));
      // as from Jupyter: a view that does not begin where its buffer does
      const bytes = Uint8Array.from("...." + atob(coded), c => c.charCodeAt(0));
      emit("msg:custom", answer, [new DataView(bytes.buffer, 4)]);
    },
  };
  const address = URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
  const {default: widget} = await import(address);
  window.end = widget.render({model: window.model, el: document.body});
}"""


@pytest.fixture
def opened(chromium):
    """Render a translator in an empty page; return the page and the Python side."""
    widget = Translator("The black cat sees the small mouse.")
    sent = []
    widget.send = lambda content, buffers: sent.append((content, buffers))

    def ask(content):
        widget._answer(widget, json.loads(content), [])
        answer, (weights,) = sent.pop()
        return [answer, base64.b64encode(weights).decode()]

    with chromium.new_context(reduced_motion="reduce") as window:
        page = window.new_page()
        page.set_default_timeout(20_000)
        page.expose_function("askPython", ask)
        names = [name for name in widget.trait_names(sync=True) if name[0] != "_"]
        plain = (str, list, dict, float)
        state = {name: getattr(widget, name) for name in names}
        state = {k: v for k, v in state.items() if isinstance(v, plain)}
        page.evaluate(MODEL, {"text": widget._esm, "state": state})
        yield page


def written(page):
    page.wait_for_selector("[data-state=done]")
    return page.locator(".attn-word").all_inner_texts()[:-1]


def test_weights_come_from_python_and_the_translation_goes_back(opened):
    opened.get_by_role("button", name="Start the translator").click()
    words = written(opened)
    assert " ".join(words) == "le chat noir voit la petite souris ."
    assert opened.evaluate("model.get('translation')") == " ".join(words)


def test_python_can_drive_it_and_sees_what_the_reader_does(opened):
    opened.get_by_role("button", name="Start the translator").click()
    whole = written(opened)
    opened.evaluate("model.set('off', ['encoder.1.0'])")
    assert written(opened) != whole
    box = opened.get_by_label("encoder layer 1, head 0 is on")
    assert not box.is_checked()
    box.click()
    assert opened.evaluate("model.get('off')") == []
    assert written(opened) == whole
    opened.evaluate("model.set('sentence', 'My mother buys a red dress.')")
    assert opened.get_by_role("combobox").input_value() == "My mother buys a red dress."
    assert written(opened)[:2] == ["ma", "mère"]
    opened.get_by_label("German", exact=True).check()
    opened.wait_for_function("model.get('translation').startsWith('meine')")
    assert opened.evaluate("model.get('language')") == "german"


def test_a_widget_that_is_closed_listens_no_more(opened):
    opened.get_by_role("button", name="Start the translator").click()
    before = written(opened)
    opened.evaluate("window.end()")
    opened.evaluate("model.set('sentence', 'My mother buys a red dress.')")
    assert opened.locator(".attn-word").all_inner_texts()[:-1] == before
