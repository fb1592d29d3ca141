"""Pages of a browser in which the JavaScript of the widgets is tried."""

import base64
import json

import pytest

# Renders a widget. Its model is a stand-in with the methods that Jupyter's has.
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
  window.end = await widget.render({model: window.model, el: document.body});
}"""


@pytest.fixture(scope="module")
def tab(browser):
    """Return a function that opens a page with names of a module in window.engine."""
    with browser.new_context() as window:

        def opened(text, *names):
            page = window.new_page()
            text = f"{text}\nwindow.engine = {{{', '.join(names)}}};"
            page.add_script_tag(content=text, type="module")
            page.wait_for_function("window.engine")
            return page

        yield opened


@pytest.fixture
def shown(browser):
    """Return a function that renders a widget in a page, this process answering it."""
    contexts, faults = [], []

    def opened(widget, **options):
        sent = []
        widget.send = lambda content, buffers: sent.append((content, buffers))

        def ask(content):
            widget._answer(widget, json.loads(content), [])
            answer, (weights,) = sent.pop()
            return [answer, base64.b64encode(weights).decode()]

        contexts.append(browser.new_context(reduced_motion="reduce", **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda fault: faults.append(fault))
        page.expose_function("askPython", ask)
        page.set_content(f"<style>{widget._css}</style>")
        page.evaluate(MODEL, {"text": widget._esm, "state": widget.get_state()})
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults
