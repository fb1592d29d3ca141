// The page of the search: MiniSearch over the sections of the course. Chapters come before
// the API, titles count more than text, and a wrong letter is forgiven.
(() => {
  "use strict";
  const RANK = { chapter: 2, page: 1.1, exercise: 0.8, api: 0.3 };
  const MOST = 30;
  const place = document.getElementById("search-results");
  const query = (new URLSearchParams(location.search).get("q") || "").trim();

  function add(parent, tag, text = "", style = "") {
    const node = document.createElement(tag);
    node.className = style;
    node.textContent = text;
    parent.append(node);
    return node;
  }

  /** Write a text into a node, with the words that were found marked. */
  function marked(node, text, terms) {
    const safe = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    text.split(new RegExp(`(${safe.join("|")})`, "i")).forEach((part, i) => {
      if (i % 2) add(node, "mark", part);
      else node.append(part);
    });
  }

  /** Return the part of a text around the first word that was found, in whole words. */
  function excerpt(text, terms) {
    const low = text.toLowerCase();
    const places = terms.map((term) => low.indexOf(term)).filter((at) => at >= 0);
    const at = places.length ? Math.min(...places) : 0;
    const from = at < 90 ? 0 : text.indexOf(" ", at - 80) + 1;
    const to = text.length < from + 220 ? text.length : text.lastIndexOf(" ", from + 210);
    return (from ? "… " : "") + text.slice(from, to) + (to < text.length ? " …" : "");
  }

  const index = new MiniSearch({
    fields: ["title", "page", "text"],
    storeFields: ["url", "title", "page", "kind", "text"],
    searchOptions: {
      boost: { title: 5, page: 1.5 },
      boostDocument: (id, term, stored) => RANK[stored.kind],
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      prefix: (term) => term.length > 2,
      weights: { fuzzy: 0.25, prefix: 0.6 },
    },
  });
  const field = document.querySelector(".bd-search-container input[name=q]");
  field.value = query;
  field.focus();
  if (query) { // what is looked through weighs 180 kB
    const script = document.createElement("script");
    script.src = new URL("search-sections.js", document.currentScript.src);
    script.onload = read;
    document.head.append(script);
  }

  function read() {
    const sections = window.courseSections.pages.flatMap(({ url, title, kind, sections }) =>
      sections.map(([id, name, text]) => (
        { url: url + (id && `#${id}`), title: name || id || title, page: title, kind, text }
      )),
    ).map((section, id) => ({ id, ...section }));
    // bit by bit, so that the page answers meanwhile
    index.addAllAsync(sections, { chunkSize: 30 }).then(show);
  }

  /** Return what is found for the query, and for what the course says in its place. */
  function results() {
    const { synonyms } = window.courseSections;
    const words = query.toLowerCase().split(/\s+/);
    const other = words.map((word) => synonyms[word] || word).join(" ");
    const found = new Map();
    for (const text of [other, query]) {
      for (const one of index.search(text, { combineWith: "AND" })) found.set(one.id, one);
    }
    // Two letters in the wrong order are two mistakes.
    if (!found.size) return index.search(query, { fuzzy: 2 });
    return [...found.values()].sort((a, b) => b.score - a.score);
  }

  function show() {
    const found = results();
    const count = found.length === 1 ? "1 section" : `${found.length} sections`;
    const most = found.length > MOST ? `, the best ${MOST} here.` : ".";
    const said = found.length
      ? `${count} for “${query}”${most}`
      : `Nothing was found for “${query}”. Try one word, or the glossary.`;
    add(place, "p", said, "search-summary").setAttribute("role", "status");
    const list = add(place, "ol", "", "search");
    for (const { url, title, page, kind, text, terms } of found.slice(0, MOST)) {
      const item = add(list, "li");
      const link = add(item, "a");
      link.href = url;
      marked(link, title, terms);
      const what = kind === "api" ? "API" : kind;
      const where = title === page ? what : `${page} · ${what}`;
      add(item, "div", where, "search-where");
      marked(add(item, "p"), excerpt(text, terms), terms);
    }
  }
})();
