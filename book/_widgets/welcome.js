// The sentence of the welcome page: the word that is pointed at, or was chosen, reads the
// others; the ribbons are as wide as its weights.
(function () {
  "use strict";
  var root = document.querySelector(".hero");
  if (!root) return;
  var data = JSON.parse(document.getElementById("hero-data").textContent);
  var stage = root.querySelector(".hero-stage");
  var svg = stage.querySelector("svg");
  var words = Array.from(stage.querySelectorAll(".hero-words button"));
  var heads = Array.from(root.querySelectorAll("[data-value*='.']"));
  var models = Array.from(root.querySelectorAll("[data-value$='trained']"));
  var TOTAL = 28; // pixels, for the weight 1
  var now = { asks: words.findIndex(pressed), model: "trained" };
  now.head = heads.find(pressed).dataset.value;
  var chosen = now.asks;

  function pressed(button) {
    return button.getAttribute("aria-pressed") === "true";
  }
  function press(buttons, wanted) {
    buttons.forEach(function (button) {
      button.setAttribute("aria-pressed", String(button === wanted));
    });
  }
  function row() {
    var at = now.head.split(".");
    return data[now.model][at[0]][at[1]][now.asks];
  }

  /** Draw a ribbon for each weight; at the word that asks they lie side by side. */
  function ribbons(weights) {
    var box = stage.getBoundingClientRect();
    var down = getComputedStyle(words[0].parentNode).flexDirection === "column";
    var edge = svg.getBoundingClientRect();
    var room = down ? edge.width : edge.height;
    var centres = words.map(function (word) {
      var at = word.getBoundingClientRect();
      return down ? (at.top + at.bottom) / 2 - edge.top : (at.left + at.right) / 2 - edge.left;
    });
    var order = [];
    for (var i = now.asks - 1; i >= 0; i--) order.push(i);
    order.push(now.asks);
    for (i = weights.length - 1; i > now.asks; i--) order.push(i);
    var total = weights.reduce(function (sum, w) { return sum + w; }, 0);
    var most = Math.max.apply(null, weights);
    var end = centres[now.asks] - TOTAL / 2;
    var far = Math.max.apply(null, centres.map(function (c) {
      return Math.abs(c - centres[now.asks]);
    }));
    svg.replaceChildren.apply(svg, order.map(function (i) {
      var width = TOTAL * weights[i] / total;
      var from = centres[i];
      var to = end + width / 2;
      end += width;
      var rise = Math.min(room - TOTAL / 2, 30 + room * 1.1 * Math.abs(from - to) / far) * 1.3;
      if (i === now.asks) rise = 22;
      var point = function (along, up) {
        return (down ? [up, along] : [along, room - up]).map(Math.round).join(" ");
      };
      var path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", "M" + point(from, 0) + "C" + point(from, rise) + " "
        + point(to, rise) + " " + point(to, 0));
      path.setAttribute("stroke-width", weights[i] ? Math.max(width, 0.7).toFixed(1) : 0);
      path.style.opacity = 0.4 + 0.6 * weights[i] / most;
      return path;
    }));
  }

  function show() {
    var weights = row();
    var best = weights.indexOf(Math.max.apply(null, weights));
    press(words, words[now.asks]);
    words.forEach(function (word, i) {
      word.style.setProperty("--w", weights[i] + "%");
      word.lastChild.textContent = (weights[i] / 100).toFixed(2);
      word.classList.toggle("most", i === best);
    });
    var at = now.head.split(".");
    var bold = function (text) {
      var node = document.createElement("b");
      node.textContent = "“" + text + "”";
      return node;
    };
    root.querySelector(".hero-says").replaceChildren(
      "Encoder layer " + at[0] + ", head " + at[1]
        + (now.model === "trained" ? ": " : ", before training: "),
      bold(data.words[now.asks]), " reads mostly from ",
      best === now.asks ? "itself" : bold(data.words[best]),
      ", with weight " + (weights[best] / 100).toFixed(2) + "."
    );
    ribbons(weights);
  }

  words.forEach(function (word, i) {
    var choose = function () {
      now.asks = chosen = i;
      show();
    };
    word.addEventListener("click", choose);
    word.addEventListener("focus", choose);
    word.addEventListener("pointerenter", function (event) {
      if (event.pointerType !== "mouse" || now.asks === i) return;
      now.asks = i;
      show();
    });
  });
  stage.addEventListener("pointerleave", function () {
    if (now.asks === chosen) return;
    now.asks = chosen;
    show();
  });
  [[heads, "head"], [models, "model"]].forEach(function (group) {
    group[0].forEach(function (button) {
      button.addEventListener("click", function () {
        now[group[1]] = button.dataset.value;
        press(group[0], button);
        show();
      });
    });
  });
  root.classList.add("hero-lives");
  new ResizeObserver(show).observe(stage);
})();
