// Sentences of the grammar: tokens, words spelt alike, and a field that completes them.

/** Cut a sentence into the tokens of the grammar; a full stop ends it. */
function tokensOf(text) {
  const plain = text.toLowerCase().replaceAll("\u2019", "'");
  const found = plain.match(/[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*'?|[^\s\p{L}\p{N}_]/gu) ?? [];
  return found.length && found.at(-1) !== "." ? [...found, "."] : found;
}

/** Count the letters to change, add, leave out or exchange to get from a to b. */
function editDistance(a, b) {
  const d = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 1; j <= b.length; j++) d[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      d[i][j] = Math.min(
        d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] !== b[j - 1]),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.length][b.length];
}

/** Return at most three words that are spelt much like one. */
function nearWords(word, words) {
  return words
    .filter((other) => /\p{L}/u.test(other))
    .map((other, rank) => {
      const begins = other.startsWith(word) || word.startsWith(other) ? 0.5 : 0;
      const size = Math.max(word.length, other.length);
      return [(editDistance(word, other) - begins) / size + rank / 1e5, other];
    })
    .filter(([far]) => far < 0.5)
    .sort((a, b) => a[0] - b[0])
    .slice(0, 3)
    .map(([, other]) => other);
}

/** Join tokens as they are written. */
function written(tokens) {
  const text = tokens.join(" ").replace(/ ([.,])/g, "$1").replace(/(\p{L}') /gu, "$1");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Return the words that often follow one; a word may be called "constructor". */
function followersOf(follow, word) {
  return Object.hasOwn(follow, word) ? follow[word] : [];
}

/** A field in which words are completed: { root, input, set(text) }. */
function sentenceField({ words, follow, onenter }) {
  const id = uniqueId("sentence");
  const list = el("div", { id: `${id}-list`, role: "listbox", "aria-label": "Words" });
  const input = el("input", {
    id, type: "text", role: "combobox", "aria-controls": `${id}-list`,
    "aria-expanded": "false", "aria-autocomplete": "list", autocomplete: "off",
    autocapitalize: "none", spellcheck: "false",
  });
  let active = -1;
  let offered = [];

  const beginning = () => {
    const before = input.value.slice(0, input.selectionStart ?? input.value.length);
    const word = before.match(/[\p{L}-]*$/u)[0].toLowerCase();
    const earlier = tokensOf(before.slice(0, before.length - word.length) + " x");
    return { word, previous: earlier.at(-3) ?? "" };
  };
  const mark = (index) => {
    active = index;
    [...list.children].forEach((option, i) =>
      option.setAttribute("aria-selected", String(i === active)));
    if (active < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[active].id);
  };
  const close = () => {
    offered = [];
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  };
  const accept = (word) => {
    const at = input.selectionStart ?? input.value.length;
    const from = at - beginning().word.length;
    const rest = input.value.slice(at).replace(/^[\p{L}-]*\s*/u, "");
    const stop = word === "." || word === ",";
    const before = stop ? input.value.slice(0, from).trimEnd() : input.value.slice(0, from);
    const start = `${before}${word} `;
    input.value = (start + rest).replace(/\. $/, ".");
    input.setSelectionRange(start.length, start.length);
    input.focus();
    offer();
  };
  const offer = () => {
    const { word, previous } = beginning();
    const likely = followersOf(follow, previous);
    const fits = [...new Set([...likely, ...words])].filter((other) =>
      word ? other.startsWith(word) && other !== word : likely.includes(other));
    offered = fits.slice(0, 8);
    list.replaceChildren(...offered.map((other, i) =>
      el("div", {
        id: `${id}-${i}`, role: "option", "aria-selected": "false",
        onpointerdown: (event) => event.preventDefault(),
        onclick: () => accept(other),
      }, other)));
    input.setAttribute("aria-expanded", String(offered.length > 0));
    mark(-1);
  };
  input.addEventListener("input", offer);
  input.addEventListener("focus", offer);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && offered.length) {
      event.preventDefault();
      const count = offered.length + 1; // one of them: no word at all
      mark(((active + 1 + step + count) % count) - 1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) accept(offered[active]);
      else {
        close();
        onenter(input.value);
      }
    } else if (event.key === "Escape") close();
  });
  const label = el("label", { for: id }, "English sentence");
  const root = el("div", {}, label, input, list);
  return { root, input, set: (text) => text !== input.value && (input.value = text) };
}
