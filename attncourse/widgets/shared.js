// Helpers of every widget. Python puts this text in front of each module, so a module
// uses these names without importing them.

let attnCount = 0;

/** Return an id that no other element of the page has. */
function uniqueId(name) {
  attnCount += 1;
  return `attn-${name}-${Math.random().toString(36).slice(2, 8)}-${attnCount}`;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null));
  return node;
}

/** Make an HTML element: el("p", { class: "x", onclick: f }, "text", child). */
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Make an SVG element in the same way. */
function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fill(node, attributes, children);
}

/** Write a number with a true minus sign and never as −0. */
function number(x, digits = 2) {
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  const text = x.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** Write a whole number with a comma between thousands. */
function whole(x) {
  return Math.round(x)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Say whether the reader has asked for less motion. */
function calm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Colour a cell for a weight, on the fixed scale from 0 to 1. */
function paint(node, weight) {
  const w = Math.min(1, Math.max(0, Number.isFinite(weight) ? weight : 0));
  node.style.setProperty("--w", w.toFixed(4));
  node.dataset.band = w < 0.545 ? "low" : w < 0.79 ? "mid" : "high";
}

/** Return the softmax of a list; a list of −∞ only becomes zeros. */
function softmax(scores) {
  const largest = Math.max(...scores);
  if (largest === -Infinity) return scores.map(() => 0);
  const exponentials = scores.map((score) => Math.exp(score - largest));
  const total = exponentials.reduce((sum, x) => sum + x, 0);
  return exponentials.map((x) => x / total);
}

function dot(a, b) {
  return a.reduce((sum, x, i) => sum + x * b[i], 0);
}

/** Hash a place to a number in (0, 1): the same 32 bits as in Python. */
function uniform(seed, index) {
  const a = (seed + Math.imul(index + 1, 0x6d2b79f5)) | 0;
  let t = Math.imul(a ^ (a >>> 15), a | 1);
  t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
  return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32;
}

/** Two standard normal numbers, after Box and Muller (1958). */
function normalPair(seed, index) {
  const radius = Math.sqrt(-2 * Math.log(uniform(seed, index)));
  const angle = 2 * Math.PI * uniform(seed, index + 1);
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

/** A button; more attributes may follow. */
function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", ...attributes, onclick }, text);
}

/** A heading of a part. */
function heading(...parts) {
  return el("p", { class: "attn-heading" }, parts);
}

/** A remark in small letters. */
function remark(...parts) {
  return el("p", { class: "attn-muted attn-small" }, parts);
}

/** What is too wide for a telephone: it can be moved sideways, by keyboard too. */
function scrollable(label, ...parts) {
  return el("div", { class: "attn-scroll", tabindex: "0", role: "region", "aria-label": label },
    parts);
}

/** The first row of a table; a column without a name has an empty cell. */
function headRow(names) {
  return el("tr", {}, names.map((name) =>
    (name === "" ? el("td", {}) : el("th", { scope: "col" }, name))));
}

/** A further row of a table. */
function tableRow(name, ...cells) {
  return el("tr", {}, el("th", { scope: "row" }, name), cells.map((x) => el("td", {}, x)));
}

/** A bar for a share of 1. */
function bar(share) {
  const node = el("span", { class: "attn-bar", "aria-hidden": "true" });
  node.style.setProperty("--w", share.toFixed(4));
  return node;
}

/** Return the index of the largest number. */
function largest(list) {
  return list.indexOf(Math.max(...list));
}

/** Return the indices of the `count` largest numbers, the largest first. */
function ranked(list, count = list.length) {
  return list.map((_, i) => i).sort((a, b) => list[b] - list[a]).slice(0, count);
}

/** A slider with its name and its number: { root, input, set(value) }. */
function slider({ label, min, max, step = 1, value, write = String, oninput }) {
  const id = uniqueId("slider");
  const input = el("input", { id, type: "range", min, max, step });
  const shown = el("output", { for: id, class: "attn-number" });
  const set = (x) => {
    input.value = x;
    shown.textContent = write(Number(x));
    input.setAttribute("aria-valuetext", write(Number(x)));
  };
  set(value);
  input.addEventListener("input", () => {
    set(input.value);
    oninput(Number(input.value));
  });
  const name = el("label", { for: id }, label);
  const root = el("div", { class: "attn-slider" }, name, shown, input);
  return { root, input, set };
}

/** A slider for a trait: it stands at `place(trait)`, and sets `value(place)`. */
function traitSlider(model, trait, { place = (x) => x, value = (x) => x, ...options }) {
  const now = () => place(model.get(trait));
  const oninput = (x) => save(model, { [trait]: value(x) });
  const made = slider({ value: now(), oninput, ...options });
  watch(model, [trait], () => made.set(now()));
  return made;
}

/** Radio buttons for a trait. options: [value, text]; `more(value)` are traits that change
    with it. */
function traitChoice(model, trait, legend, options, more = () => ({})) {
  const group = uniqueId("choice");
  const inputs = new Map();
  const labels = options.map(([value, text]) => {
    const onchange = () => save(model, { [trait]: value, ...more(value) });
    inputs.set(value, el("input", { type: "radio", name: group, value: String(value), onchange }));
    return el("label", { class: "attn-option" }, inputs.get(value), el("span", {}, text));
  });
  live(model, [trait], () => {
    const input = inputs.get(model.get(trait));
    if (input) input.checked = true;
  });
  const row = el("div", { class: "attn-options" }, labels);
  return el("fieldset", {}, el("legend", {}, legend), row);
}

/** A list to choose from: { root, input }. */
function select(label, options, onchange) {
  const id = uniqueId("select");
  const input = el("select", { id, onchange: () => onchange(Number(input.value)) },
    options.map((text, i) => el("option", { value: i }, text)));
  return { root: el("div", { class: "attn-field" }, el("label", { for: id }, label), input), input };
}

/** A list of sentences, which sets the trait `sentence`, and more traits with it. */
function sentenceSelect(model, sentences, more) {
  const { root, input } = select("Sentence", sentences.map((words) => words.join(" ")),
    (sentence) => save(model, { sentence, ...more }));
  live(model, ["sentence"], () => (input.value = model.get("sentence")));
  return root;
}

/** A field for a trait that is a text: { root, input }. With `rows`, it has several lines. */
function traitField(model, trait, label, { rows, ...attributes } = {}) {
  const id = uniqueId(trait);
  const input = el(rows ? "textarea" : "input", {
    id, rows, type: rows ? null : "text", spellcheck: "false",
    oninput: () => save(model, { [trait]: input.value }), ...attributes });
  live(model, [trait], () => {
    if (input.value !== model.get(trait)) input.value = model.get(trait);
  });
  return { root: el("div", {}, el("label", { for: id }, label), input), input };
}

/** A line that is read out when it changes, after the reader has paused. */
function report() {
  const shown = el("p", { class: "attn-report" });
  const spoken = el("p", { class: "attn-hidden", role: "status" });
  let timer = null;
  const say = (...parts) => {
    shown.replaceChildren(...parts);
    clearTimeout(timer);
    timer = setTimeout(() => (spoken.textContent = shown.textContent), 600);
  };
  return { root: el("div", {}, shown, spoken), say };
}

/** Numbers as a table for who cannot see the drawing: { root, update(head, rows) }.
    The first entry of each row is its heading. */
function dataTable({ summary = "The numbers as a table", caption }) {
  const head = el("thead", {});
  const body = el("tbody", {});
  const title = el("caption", {});
  const table = el("table", { class: "attn-data" }, title, head, body);
  const scroll = scrollable("", table);
  const call = (name) => {
    title.textContent = name;
    scroll.setAttribute("aria-label", name);
  };
  call(caption);
  const root = el("details", {}, el("summary", {}, summary), scroll);
  const update = (names, rows, newCaption = null) => {
    if (newCaption !== null) call(newCaption);
    head.replaceChildren(headRow(names));
    body.replaceChildren(...rows.map((line) => tableRow(...line)));
  };
  return { root, update };
}

/** Return where an arrow key, Home or End leads from a place in a table; else null. */
function arrowKeys(event, table, row, column) {
  const [bottom, right] = [table.length - 1, table[row].length - 1];
  const to = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [event.ctrlKey ? 0 : row, 0],
    End: [event.ctrlKey ? bottom : row, right],
  }[event.key];
  if (!to || event.altKey || event.metaKey) return null;
  event.preventDefault();
  event.stopPropagation();
  return [Math.min(Math.max(to[0], 0), bottom), Math.min(Math.max(to[1], 0), right)];
}

/** A heat map to walk through with the arrow keys; rows are queries, columns are keys.
    Tab reaches one cell, the selected one.
    Returns { root, select(row, column), update(weights, write, name) }. */
function heatGrid({ label, rowLabels, columnLabels, onselect }) {
  const cells = rowLabels.map(() => columnLabels.map(() => null));
  const chosen = { row: 0, column: 0 };
  const top = el("tr", { role: "row" }, el("td", { role: "presentation" }),
    columnLabels.map((text) =>
      el("th", { role: "columnheader", scope: "col", class: "attn-key attn-upright" },
        el("span", {}, text))));
  const rows = rowLabels.map((text, row) =>
    el("tr", { role: "row" },
      el("th", { role: "rowheader", scope: "row", class: "attn-query" }, text),
      columnLabels.map((_, column) => {
        const cell = el("td", { role: "gridcell", class: "attn-cell", tabindex: "-1" });
        cell.addEventListener("click", () => choose(row, column));
        cells[row][column] = cell;
        return cell;
      })));
  const table = el("table", { role: "grid", class: "attn-grid", "aria-label": label },
    el("thead", { role: "rowgroup" }, top), el("tbody", { role: "rowgroup" }, rows));
  const mark = (on) => {
    const cell = cells[chosen.row][chosen.column];
    cell.setAttribute("aria-selected", String(on));
    cell.tabIndex = on ? 0 : -1;
    return cell;
  };
  const select = (row, column) => {
    mark(false);
    Object.assign(chosen, { row, column });
    return mark(true);
  };
  const choose = (row, column) => {
    select(row, column).focus();
    onselect(row, column);
  };
  table.addEventListener("keydown", (event) => {
    const to = arrowKeys(event, cells, chosen.row, chosen.column);
    if (to) choose(...to);
  });
  const update = (weights, write = (x) => number(x, 2), name = null) => {
    weights.forEach((line, row) =>
      line.forEach((weight, column) => {
        paint(cells[row][column], weight);
        cells[row][column].textContent = write(weight, row, column);
        if (name) cells[row][column].setAttribute("aria-label", name(weight, row, column));
      }));
  };
  select(0, 0);
  return { root: el("div", { class: "attn-scroll" }, table), table, cells, select, update };
}

/** A chart of lines: { root, update(series, mark, words, limits) }. series: [{ points, style }],
    style "", "attn-second" or "attn-third"; mark: an x to point out; limits: those of y. */
function lineChart({ x, y, width = 340, height = 190 }) {
  const box = { left: 40, top: 22, right: width - 12, bottom: height - 36 };
  const scale = x.log ? Math.log2 : (value) => value;
  const [from, to] = [scale(x.min), scale(x.max)];
  const across = (value) =>
    box.left + ((scale(value) - from) / (to - from)) * (box.right - box.left);
  const range = { min: y.min, max: y.max };
  const up = (value) => {
    const share = (value - range.min) / (range.max - range.min || 1);
    return box.bottom - Math.min(1.02, Math.max(-0.02, share)) * (box.bottom - box.top);
  };
  const axes = svg("g", {});
  const lines = svg("g", {});
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, role: "img" }, axes, lines);
  const write = (value) => String(Number(value.toPrecision(3))).replace("-", "−");
  const drawAxes = () => {
    const ticks = y.ticks ?? [range.min, (range.min + range.max) / 2, range.max];
    axes.replaceChildren(
      svg("text", { x: 2, y: 12 }, y.label),
      ...ticks.flatMap((value) => [
        svg("path", { class: "attn-guide", d: `M${box.left} ${up(value)}H${box.right}` }),
        svg("text", { x: box.left - 5, y: up(value) + 4, "text-anchor": "end" }, write(value)),
      ]),
      ...x.ticks.flatMap((value) => [
        svg("path", { class: "attn-axis", d: `M${across(value)} ${box.bottom}v4` }),
        svg("text", { x: across(value), y: box.bottom + 16, "text-anchor": "middle" },
          String(value).replace("-", "−")),
      ]),
      svg("path", { class: "attn-axis", d: `M${box.left} ${box.bottom}H${box.right}` }),
      svg("text", { x: (box.left + box.right) / 2, y: height - 3, "text-anchor": "middle" },
        x.label),
    );
  };
  const update = (series, mark, words, limits = null) => {
    if (limits) [range.min, range.max] = limits;
    drawAxes();
    root.setAttribute("aria-label", words);
    lines.replaceChildren(
      svg("path", { class: "attn-mark", d: `M${across(mark)} ${box.top}V${box.bottom}` }),
      ...series.map(({ points, style = "" }) => {
        const path = points.map(([a, b]) => `${across(a).toFixed(1)} ${up(b).toFixed(1)}`);
        return svg("path", { class: `attn-curve ${style}`, d: `M${path.join("L")}` });
      }),
      ...series.flatMap(({ points, style = "" }) =>
        points.filter(([a]) => a === mark).map(([a, b]) =>
          svg("circle", { class: `attn-dot ${style}`, cx: across(a), cy: up(b), r: 4 }))),
    );
  };
  return { root, update };
}

/** Name the lines of a chart: [[style, name], …]. */
function legend(entries) {
  return el("p", { class: "attn-legend" }, entries.map(([style, name]) =>
    el("span", {},
      svg("svg", { viewBox: "0 0 26 8", width: 26, "aria-hidden": "true" },
        svg("path", { class: `attn-curve ${style}`, d: "M1 4H25" })),
      name)));
}

/** Make the module of a widget: `build(root, model)` fills its frame, whose title asks a
    question. When its view is closed, it ends what is in `model.ends`. */
function widget(name, question, build) {
  const render = async ({ model, el: place }) => {
    const id = uniqueId("title");
    const title = el("p", { class: "attn-title", id }, question);
    const others = document.querySelectorAll(`[data-widget="${name}"]`).length;
    const naming = others ? { "aria-label": `${question} (${others + 1})` } : { "aria-labelledby": id };
    const root = el("section", { class: "attn-widget", "data-widget": name, ...naming }, title);
    place.replaceChildren(root);
    const ends = [];
    await build(root, Object.assign(Object.create(model), { ends }));
    return () => ends.forEach((end) => end());
  };
  return { render };
}

/** Save several traits at once and tell the kernel, if there is one. */
function save(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/** Draw now and when one of the traits changes. */
function live(model, names, draw) {
  watch(model, names, draw);
  draw();
}

/** Redraw when one of the traits changes, from Python or from another view. */
function watch(model, names, redraw) {
  for (const name of names) {
    model.on(`change:${name}`, redraw);
    model.ends.push(() => model.off(`change:${name}`, redraw));
  }
}
