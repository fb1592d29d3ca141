// Runs the widgets of a page without Jupyter and without a library, each when the reader
// is less than a screen away from it: until then its still picture is there, as where it
// cannot run. The build writes the states of the page's widgets into a script, which is
// loaded with the first of them. Each state holds an ES module, which is imported from
// memory, so that it works from a sub-path and from a folder too.
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
  const host = document.currentScript;
  let states;
  const load = () => (states ??= new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = new URL(host.dataset.states, host.src);
    script.onload = resolve;
    document.head.append(script);
  }));
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      load().then(() => show(target.querySelector("script")));
    }
  }, { rootMargin: "100%" });
  document.querySelectorAll(".course-widget").forEach((widget) => near.observe(widget));
})();
