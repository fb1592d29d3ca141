// Four things that neither the theme nor a style sheet can do.
(function () {
  "use strict";

  // What is wider than its column scrolls, and who has no mouse must be able to reach it.
  // To measure is to lay out, so it is done bit by bit, when there is time.
  var soon = window.requestIdleCallback || window.setTimeout;
  function mark() {
    var boxes = Array.from(document.querySelectorAll(
      "div.math > math, div.cell_output, .course-wide, .highlight > pre,"
        + " .pst-scrollable-table-container"
    ));
    soon(function some(left) {
      do {
        var box = boxes.shift();
        if (!box) break;
        if (box.scrollWidth > box.clientWidth + 1) box.setAttribute("tabindex", "0");
        else if (!box.hasAttribute("role")) box.removeAttribute("tabindex");
      } while (left && left.timeRemaining && left.timeRemaining() > 10);
      if (boxes.length) soon(some);
      else document.documentElement.dataset.marked = "";
    });
  }
  if (document.readyState === "complete") mark();
  else window.addEventListener("load", mark);
  window.addEventListener("resize", mark);

  // Paper is light, whatever the screen is.
  var root = document.documentElement;
  var screen = null;
  window.addEventListener("beforeprint", function () {
    screen = root.dataset.theme;
    root.dataset.theme = "light";
  });
  window.addEventListener("afterprint", function () {
    if (screen) root.dataset.theme = screen;
  });

  // There the fonts are not asked for before the page is drawn: they may come after it.
  if (location.protocol === "file:") {
    var folder = document.documentElement.dataset.content_root + "_static/fonts/";
    var style = document.createElement("style");
    [["400", "400", "normal"], ["400-italic", "400", "italic"], ["600", "600 700", "normal"]]
      .forEach(function (face) {
        style.textContent += "@font-face{font-family:Literata;src:url("
          + JSON.stringify(new URL(folder + "literata-" + face[0] + ".woff2", location).href)
          + ") format('woff2');font-weight:" + face[1] + ";font-style:" + face[2]
          + ";font-display:swap}";
      });
    document.head.appendChild(style);
  }

  // A phrase lights up its part of the drawing beside it, and the part its phrase:
  // <span class="lights" data-part="q">queries</span>, with the letters of the drawings.
  var drawings = Array.from(document.querySelectorAll(".attn-drawing"));
  document.querySelectorAll(".lights").forEach(function (phrase) {
    var part = phrase.dataset.part;
    var away = function (drawing) {
      return Math.abs(drawing.getBoundingClientRect().top - phrase.getBoundingClientRect().top);
    };
    var drawing = drawings.slice().sort(function (a, b) { return away(a) - away(b); })[0];
    if (!drawing) return;
    var light = function (on) {
      phrase.classList.toggle("lit", on);
      if (on) drawing.dataset.lit = part;
      else delete drawing.dataset.lit;
    };
    phrase.tabIndex = 0;
    [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]
      .forEach(function (pair) {
        phrase.addEventListener(pair[0], function () { light(pair[1]); });
      });
    drawing.addEventListener("pointerover", function (event) {
      phrase.classList.toggle("lit", event.target.closest("." + part) !== null);
    });
    drawing.addEventListener("pointerleave", function () { phrase.classList.remove("lit"); });
  });
})();
