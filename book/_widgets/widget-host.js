// Runs the widgets of a page without Jupyter and without a library. The build writes the
// states of the page's widgets into a script, which this one loads after all else: until
// then the still pictures are there. Each state holds an ES module, which is imported from
// memory, so that it works from a sub-path and from a folder too. Where a widget cannot
// run, its still picture stays.
(() => {
  "use strict";

  /** The part of Jupyter's model that a widget uses. */
  class Model {
    listeners = {};
    constructor(state) {
      this.state = state;
    }
    get(name) {
      return this.state[name];
    }
    set(name, value) {
      if (JSON.stringify(this.state[name]) === JSON.stringify(value)) return;
      this.state[name] = value;
      for (const listener of [...(this.listeners[`change:${name}`] ?? [])]) listener();
    }
    on(event, listener) {
      (this.listeners[event] ??= []).push(listener);
    }
    off(event, listener) {
      this.listeners[event] = this.listeners[event]?.filter((one) => one !== listener);
    }
    save_changes() {} // there is no kernel to tell
  }

  const modules = {}; // widgets of one class share what they load
  function importText(text) {
    const blob = new Blob([text], { type: "text/javascript" });
    return (modules[text] ??= import(URL.createObjectURL(blob)));
  }

  async function show(view) {
    const { state } = window.courseWidgetStates[JSON.parse(view.textContent).model_id];
    const place = document.createElement("div");
    place.className = "course-widget-live";
    try {
      const { default: widget } = await importText(state._esm);
      view.before(place);
      await widget.render({ model: new Model(state), el: place });
      view.parentNode.classList.add("course-widget-runs");
    } catch (error) {
      place.remove();
      console.error(error);
    }
  }

  if (!CSS.supports("color", "color-mix(in srgb, red 50%, blue)")) return;
  const views = "script[type='application/vnd.jupyter.widget-view+json']";
  const host = document.currentScript;
  window.addEventListener("load", () => {
    const states = document.createElement("script");
    states.src = new URL(host.dataset.states, host.src);
    states.onload = () => document.querySelectorAll(views).forEach(show);
    document.head.append(states);
  });
})();
