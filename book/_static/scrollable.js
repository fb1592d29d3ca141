// What is wider than its column scrolls, and who has no mouse must be able to reach it.
(function () {
  "use strict";
  function mark() {
    document.querySelectorAll(
      "div.math > math, div.cell_output, .attn-scroll"
    ).forEach(function (box) {
      if (box.scrollWidth > box.clientWidth + 1) box.setAttribute("tabindex", "0");
      else if (!box.hasAttribute("role")) box.removeAttribute("tabindex");
    });
  }
  window.addEventListener("load", mark);
  window.addEventListener("resize", mark);
})();
