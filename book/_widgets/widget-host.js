// Runs the widgets of a page without Jupyter and without a library. The build writes
// the states of the page's widgets into a script, which comes before this one; each state
// holds an ES module, which is imported from memory, so that it works from a sub-path and
// from a folder too.
// This file keeps to the syntax of old browsers: there, the still picture stays.

(function () {
  "use strict";

  var VIEW = "application/vnd.jupyter.widget-view+json";
  var load;
  try {
    load = new Function("address", "return import(address)");
  } catch (error) {
    return; // no modules
  }
  if (!window.CSS || !CSS.supports("color", "color-mix(in srgb, red 50%, blue)")) return;

  /** Put binary values, which the state keeps apart as text, back into their places. */
  function restore(state, buffers) {
    (buffers || []).forEach(function (buffer) {
      var text = atob(buffer.data);
      var bytes = Uint8Array.from(text, function (c) { return c.charCodeAt(0); });
      var place = state;
      buffer.path.slice(0, -1).forEach(function (step) { place = place[step]; });
      place[buffer.path[buffer.path.length - 1]] = new DataView(bytes.buffer);
    });
    return state;
  }

  function same(a, b) {
    return a === b || JSON.stringify(a) === JSON.stringify(b);
  }

  /** The part of Jupyter's model that a widget uses. */
  function Model(state) {
    this.state = state;
    this.listeners = {};
  }
  Model.prototype = {
    get: function (name) { return this.state[name]; },
    set: function (name, value) {
      var values = typeof name === "object" ? name : {};
      var changed = false;
      if (typeof name !== "object") values[name] = value;
      for (var key in values) {
        if (same(this.state[key], values[key])) continue;
        this.state[key] = values[key];
        changed = true;
        this.emit("change:" + key, values[key]);
      }
      if (changed) this.emit("change");
    },
    save_changes: function () {}, // there is no kernel to tell
    send: function () {},
    on: function (names, listener) {
      names.split(/\s+/).forEach(function (name) {
        (this.listeners[name] = this.listeners[name] || []).push(listener);
      }, this);
    },
    off: function (names, listener) {
      if (!names) this.listeners = {};
      else names.split(/\s+/).forEach(function (name) {
        this.listeners[name] = (this.listeners[name] || []).filter(function (other) {
          return listener && other !== listener;
        });
      }, this);
    },
    emit: function (name, value) {
      var model = this;
      (this.listeners[name] || []).slice().forEach(function (listener) {
        listener(model, value);
      });
    },
  };

  var modules = {};
  function importText(text) {
    if (!modules[text]) {
      var blob = new Blob([text], { type: "text/javascript" });
      modules[text] = load(URL.createObjectURL(blob));
    }
    return modules[text];
  }

  var running = {}; // models by id, each with the promise that it is ready
  function start(id, entry) {
    if (running[id]) return running[id];
    var model = new Model(restore(entry.state, entry.buffers));
    running[id] = importText(model.get("_esm")).then(function (module) {
      var widget = module.default;
      return Promise.resolve(typeof widget === "function" ? widget() : widget);
    }).then(function (widget) {
      var begun = widget.initialize && widget.initialize({ model: model });
      return Promise.resolve(begun).then(function () {
        return { model: model, widget: widget };
      });
    });
    return running[id];
  }

  function show(view, states) {
    var id = JSON.parse(view.textContent).model_id;
    var entry = states[id];
    if (!entry || entry.model_module !== "anywidget") return null;
    var place = document.createElement("div");
    place.className = "course-widget-live";
    return start(id, entry).then(function (ready) {
      view.parentNode.insertBefore(place, view);
      return ready.widget.render({ model: ready.model, el: place });
    }).then(function () {
      view.parentNode.classList.add("course-widget-runs");
    }).catch(function (error) {
      place.remove(); // the still picture stays
      console.error(error);
    });
  }

  var states = window.courseWidgetStates || {};
  document.querySelectorAll('script[type="' + VIEW + '"]').forEach(function (view) {
    show(view, states);
  });
})();
