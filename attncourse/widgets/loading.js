// The models' weights: on the built site a script of the site, which also loads from
// a folder; in a notebook a message from Python. Nothing is loaded before it is asked for.

/** Say whether the page is one of the built site, where no kernel answers. */
function siteRoot() {
  return document.documentElement.dataset.content_root;
}

const loading = {}; // promises of models, by name

function fetchWeights(model, name, stem) {
  return new Promise((resolve, reject) => {
    if (siteRoot() === undefined) {
      const late = setTimeout(
        () => reject(new Error("Python does not answer. Run the cell again.")), 30_000,
      );
      const listener = (content, buffers) => {
        if (content.weights !== name) return;
        clearTimeout(late);
        model.off("msg:custom", listener);
        const { buffer, byteOffset, byteLength } = buffers[0];
        const isView = buffer !== undefined;
        resolve(isView ? buffer.slice(byteOffset, byteOffset + byteLength) : buffers[0]);
      };
      model.on("msg:custom", listener);
      return model.send({ ask: "weights", language: name });
    }
    const file = `${siteRoot()}_static/models/${stem}.js`;
    const script = el("script", { src: new URL(file, document.baseURI).href });
    script.onload = () => {
      resolve(fromBase64(window.attnWeights[name]));
      delete window.attnWeights[name];
      script.remove();
    };
    script.onerror = () => {
      script.remove();
      reject(new Error(`The weights could not be loaded: ${file} is missing.`));
    };
    document.head.append(script);
  });
}

/** Return a model, loading its weights once for all widgets of the page. */
function modelOf(model, name, make, stem = name) {
  loading[name] ??= fetchWeights(model, name, stem).then(make);
  loading[name].catch(() => delete loading[name]);
  return loading[name];
}

/** Return the translator of a language, loading its weights once. */
function translatorOf(model, language) {
  return modelOf(model, language, (buffer) => {
    const translator = new Translator(readTensors(buffer));
    translator.translate([4, 5, translator.eos]); // a first run, to warm up
    return translator;
  }, `translation_${language}`);
}

/** When a widget has come half-way up the screen, or is touched, go on with what `load`
    promises; `say` what happens. What stands below the middle of a page's first screen
    would keep the page itself waiting. */
function whenSeen(root, model, say, load, goOn = () => {}) {
  let begun = false;
  const note = (text) => root.dataset.state === "first" || say.say(text);
  const begin = () => {
    if (begun) return;
    begun = true;
    sight.disconnect();
    note("Loading the weights …");
    load().then(goOn).catch((error) => say.say(error.message));
  };
  const sight = new IntersectionObserver(
    (entries) => entries.some((entry) => entry.isIntersecting) && begin(),
    { rootMargin: siteRoot() === undefined ? "0px"
      : `0px 0px -${root.dataset.state === "first" ? 65 : 50}% 0px` });
  note("The model is loaded when you scroll on or touch it.");
  sight.observe(root);
  root.addEventListener("pointerenter", begin);
  root.addEventListener("focusin", begin);
  model.ends.push(() => sight.disconnect());
}
