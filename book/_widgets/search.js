// The page of the search: MiniSearch over the sections of the course. Chapters come before
// the API, titles count more than text, and a wrong letter is forgiven.
(function () {
  "use strict";
  var place = document.getElementById("search-results");
  var query = (new URLSearchParams(location.search).get("q") || "").trim();
  if (!place || typeof MiniSearch === "undefined") return;
  var RANK = { chapter: 2, page: 1.1, exercise: 0.8, api: 0.3 };
  var NAMES = { chapter: "chapter", page: "page", exercise: "exercise", api: "API" };
  var MOST = 30;
  var data = window.courseSections;

  function add(parent, tag, text, style) {
    var node = document.createElement(tag);
    if (style) node.className = style;
    node.textContent = text || "";
    parent.appendChild(node);
    return node;
  }

  /** Write a text into a node, with the words that were found marked. */
  function marked(node, text, terms) {
    var safe = terms.map(function (term) {
      return term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    });
    text.split(new RegExp("(" + safe.join("|") + ")", "i")).forEach(function (part, i) {
      if (i % 2) add(node, "mark", part);
      else node.appendChild(document.createTextNode(part));
    });
  }

  /** Return the part of a text around the first word that was found, in whole words. */
  function excerpt(text, terms) {
    var low = text.toLowerCase();
    var at = Math.min.apply(null, terms.map(function (term) {
      var found = low.indexOf(term);
      return found < 0 ? text.length : found;
    }));
    if (at === text.length) at = 0;
    var from = at < 90 ? 0 : text.indexOf(" ", at - 80) + 1;
    var to = text.length < from + 220 ? text.length : text.lastIndexOf(" ", from + 210);
    return (from ? "… " : "") + text.slice(from, to) + (to < text.length ? " …" : "");
  }

  var index = new MiniSearch({
    fields: ["title", "page", "text"],
    storeFields: ["url", "title", "page", "kind", "text"],
    searchOptions: {
      boost: { title: 5, page: 1.5 },
      boostDocument: function (id, term, stored) { return RANK[stored.kind]; },
      fuzzy: function (term) { return term.length > 4 ? 0.2 : false; },
      prefix: function (term) { return term.length > 2; },
      weights: { fuzzy: 0.25, prefix: 0.6 },
    },
  });
  var sections = [];
  data.pages.forEach(function (page) {
    page.sections.forEach(function (section) {
      sections.push({
        id: sections.length,
        url: page.url + (section[0] && "#" + section[0]),
        title: section[1] || section[0] || page.title,
        page: page.title,
        kind: page.kind,
        text: section[2],
      });
    });
  });
  var field = document.querySelector(".bd-search-container input[name=q]");
  if (field) field.value = query;
  // bit by bit, so that the page answers meanwhile
  if (query) index.addAllAsync(sections, { chunkSize: 30 }).then(show);

  function show() {
    var found = index.search(query, { combineWith: "AND" });
    var other = query.toLowerCase().split(/\s+/).map(function (word) {
      return data.synonyms[word] || word;
    }).join(" ");
    if (other !== query.toLowerCase()) {
      var known = {};
      found.forEach(function (one) { known[one.id] = true; });
      found = found.concat(index.search(other, { combineWith: "AND" }).filter(function (one) {
        return !known[one.id];
      })).sort(function (a, b) { return b.score - a.score; });
    }
    if (!found.length) found = index.search(query);
    var count = found.length === 1 ? "1 section" : found.length + " sections";
    add(place, "p", found.length
      ? count + " for “" + query + "”" + (found.length > MOST ? ", the best " + MOST + " here." : ".")
      : "Nothing was found for “" + query + "”. Try one word, or the glossary.", "search-summary")
      .setAttribute("role", "status");
    var list = add(place, "ol", "", "search");
    found.slice(0, MOST).forEach(function (one) {
      var item = add(list, "li");
      var link = add(item, "a");
      link.href = one.url;
      marked(link, one.title, one.terms);
      var where = one.title === one.page ? NAMES[one.kind] : one.page + " · " + NAMES[one.kind];
      add(item, "div", where, "search-where");
      marked(add(item, "p"), excerpt(one.text, one.terms), one.terms);
    });
  }
})();
