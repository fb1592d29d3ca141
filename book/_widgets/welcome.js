// The sentence of the welcome page: the word that is pointed at, or was chosen, attends to
// the others; the ribbons are as wide as its weights.
(() => {
  "use strict";
  const root = document.querySelector(".hero");
  if (!root) return;
  const data = JSON.parse(document.getElementById("hero-data").textContent);
  const stage = root.querySelector(".hero-stage");
  const svg = stage.querySelector("svg");
  const words = [...stage.querySelectorAll(".hero-words button")];
  const heads = [...root.querySelectorAll("[data-value*='.']")];
  const models = [...root.querySelectorAll("[data-value$='trained']")];
  const TOTAL = 28; // pixels, for the weight 1
  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  const now = { asks: words.findIndex(pressed), model: "trained" };
  now.head = heads.find(pressed).dataset.value;
  let chosen = now.asks;

  function press(buttons, wanted) {
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button === wanted));
    }
  }

  /** Draw a ribbon for each weight; at the word that asks they lie side by side. */
  function ribbons(weights) {
    const down = getComputedStyle(words[0].parentNode).flexDirection === "column";
    const edge = svg.getBoundingClientRect();
    const room = down ? edge.width : edge.height;
    const centres = words.map((word) => {
      const at = word.getBoundingClientRect();
      return down ? (at.top + at.bottom) / 2 - edge.top : (at.left + at.right) / 2 - edge.left;
    });
    const all = [...weights.keys()];
    const { asks } = now;
    const order = [...all.slice(0, asks).reverse(), asks, ...all.slice(asks + 1).reverse()];
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const most = Math.max(...weights);
    const far = Math.max(...centres.map((centre) => Math.abs(centre - centres[asks])));
    const point = (along, up) =>
      (down ? [up, along] : [along, room - up]).map(Math.round).join(" ");
    let end = centres[asks] - TOTAL / 2;
    svg.replaceChildren(...order.map((i) => {
      const width = (TOTAL * weights[i]) / total;
      const from = centres[i];
      const to = end + width / 2;
      end += width;
      const arch = 30 + (room * 1.1 * Math.abs(from - to)) / far;
      const rise = i === asks ? 22 : Math.min(room - TOTAL / 2, arch) * 1.3;
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      const ends = [point(from, 0), point(from, rise), point(to, rise), point(to, 0)];
      path.setAttribute("d", `M${ends[0]}C${ends.slice(1).join(" ")}`);
      path.setAttribute("stroke-width", weights[i] ? Math.max(width, 1).toFixed(1) : 0);
      path.style.opacity = 0.6 + (0.4 * weights[i]) / most;
      return path;
    }));
  }

  function show() {
    const [layer, head] = now.head.split(".");
    const weights = data[now.model][layer][head][now.asks];
    const best = weights.indexOf(Math.max(...weights));
    press(words, words[now.asks]);
    words.forEach((word, i) => {
      word.style.setProperty("--w", `${weights[i]}%`);
      word.lastChild.textContent = (weights[i] / 100).toFixed(2);
      word.classList.toggle("most", i === best);
    });
    const bold = (text) => {
      const node = document.createElement("b");
      node.textContent = `“${text}”`;
      return node;
    };
    const when = now.model === "trained" ? "" : ", before training";
    root.querySelector(".hero-says").replaceChildren(
      `Encoder layer ${layer}, head ${head}${when}: `,
      bold(data.words[now.asks]), " attends most to ",
      best === now.asks ? "itself" : bold(data.words[best]),
      `, with weight ${(weights[best] / 100).toFixed(2)}.`,
    );
    ribbons(weights);
  }

  function look(asks) {
    if (now.asks === asks) return;
    now.asks = asks;
    show();
  }
  words.forEach((word, i) => {
    for (const event of ["click", "focus"]) {
      word.addEventListener(event, () => look(chosen = i));
    }
    word.addEventListener("pointerenter", ({ pointerType }) => {
      if (pointerType === "mouse") look(i);
    });
  });
  stage.addEventListener("pointerleave", () => look(chosen));
  for (const [buttons, name] of [[heads, "head"], [models, "model"]]) {
    for (const button of buttons) {
      button.addEventListener("click", () => {
        now[name] = button.dataset.value;
        press(buttons, button);
        show();
      });
    }
  }
  root.classList.add("hero-lives");
  new ResizeObserver(show).observe(stage);
})();
