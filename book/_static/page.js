// Five things that neither the theme nor a style sheet can do.
(() => {
  "use strict";
  const root = document.documentElement;

  // What is wider than its column scrolls, and who has no mouse must be able to reach it.
  // All is measured before anything is changed: to measure after a change is to lay out.
  // What is folded away or far off waits: each piece measured would be laid out alone.
  function mark(event) {
    if (event?.skipped) return;
    const boxes = [...document.querySelectorAll(
      "div.math > math, div.cell_output, .course-wide, .highlight > pre,"
        + " .pst-scrollable-table-container",
    )].filter((box) => box.checkVisibility?.({ contentVisibilityAuto: true }) ?? true);
    const scroll = boxes.map((box) => box.scrollWidth > box.clientWidth + 1);
    boxes.forEach((box, i) => {
      if (scroll[i]) box.setAttribute("tabindex", "0");
      else if (!box.hasAttribute("role")) box.removeAttribute("tabindex");
    });
    root.dataset.marked = "";
  }
  if (document.readyState === "complete") mark();
  else window.addEventListener("load", mark);
  window.addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true);
  document.addEventListener("contentvisibilityautostatechange", mark, true);

  // The theme's menus and the copy buttons come when the page has been drawn, or somebody
  // has touched it: to read, nobody needs them.
  const theirs = [...document.querySelectorAll('script[type="text/late"]')];
  function ask() {
    for (const { src } of theirs.splice(0)) {
      const script = document.createElement("script");
      script.async = false; // in their order
      script.onload = () => {
        if (!--missing) root.dataset.whole = "";
      };
      script.src = src;
      document.head.append(script);
    }
  }
  let missing = theirs.length;
  const idle = window.requestIdleCallback ?? setTimeout; // Safari has only the second
  window.addEventListener("load", () => requestAnimationFrame(
    () => requestAnimationFrame(() => idle(ask)), // drawn by the second
  ));
  for (const event of ["pointerdown", "keydown", "focusin"]) {
    window.addEventListener(event, ask, { capture: true, once: true });
  }

  // Paper is light, whatever the screen is.
  let onScreen;
  window.addEventListener("beforeprint", () => {
    onScreen = root.dataset.theme;
    root.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => {
    root.dataset.theme = onScreen;
  });

  // There the fonts are not asked for before the page is drawn: they may come after it.
  if (location.protocol === "file:") {
    const folder = new URL(`${root.dataset.content_root}_static/fonts/`, location);
    for (const [name, weight, style] of [
      ["400", "400", "normal"], ["400-italic", "400", "italic"], ["600", "600 700", "normal"],
    ]) {
      const file = `url("${folder}literata-${name}.woff2")`;
      document.fonts.add(new FontFace("Literata", file, { weight, style }));
    }
  }

  // A phrase lights up its part of the drawing beside it, and the part its phrase:
  // <span class="lights" data-part="q">queries</span>, with the letters of the drawings.
  const drawings = [...document.querySelectorAll(".attn-drawing")];
  const phrases = [...(drawings.length ? document.querySelectorAll(".lights") : [])];
  const top = (element) => element.getBoundingClientRect().top;
  const pairs = new Map(); // measured when first needed, not while the page loads
  function drawingOf(phrase) {
    const away = (drawing) => Math.abs(top(drawing) - top(phrase));
    const nearest = () => [...drawings].sort((a, b) => away(a) - away(b))[0];
    if (!pairs.has(phrase)) pairs.set(phrase, nearest());
    return pairs.get(phrase);
  }
  for (const phrase of phrases) {
    const light = (on) => {
      phrase.classList.toggle("lit", on);
      if (on) drawingOf(phrase).dataset.lit = phrase.dataset.part;
      else delete drawingOf(phrase).dataset.lit;
    };
    phrase.tabIndex = 0;
    for (const event of ["pointerenter", "focus"]) {
      phrase.addEventListener(event, () => light(true));
    }
    for (const event of ["pointerleave", "blur"]) {
      phrase.addEventListener(event, () => light(false));
    }
  }
  for (const drawing of drawings) {
    for (const event of ["pointerover", "pointerleave"]) {
      drawing.addEventListener(event, ({ type, target }) => {
        for (const phrase of phrases.filter((p) => drawingOf(p) === drawing)) {
          const part = target.closest(`.${phrase.dataset.part}`);
          phrase.classList.toggle("lit", type === "pointerover" && part !== null);
        }
      });
    }
  }
})();
