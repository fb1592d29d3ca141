// Remembers, in this browser alone, where a reader was in each chapter and which questions
// have been answered; shows it in the contents and on the welcome page.
(function () {
  "use strict";
  var root = new URL(document.documentElement.dataset.content_root, location).pathname;
  var store = "attention-measured " + root; // other sites may have the same host
  var page = location.pathname.slice(root.length);
  var welcome = document.getElementById("continue");
  var begin = welcome && welcome.cloneNode(true);
  var contents = document.querySelector("nav.bd-links");

  function places() {
    try {
      return JSON.parse(localStorage.getItem(store)) || {};
    } catch (error) {
      return {}; // no storage here, as in some private windows
    }
  }

  function keep(change) {
    var all = places();
    var here = all[page] || { answered: [] };
    change(here);
    here.when = Date.now();
    here.title = text(document.querySelector("h1"));
    here.questions = document.querySelectorAll(".course-question").length;
    all[page] = here;
    try {
      localStorage.setItem(store, JSON.stringify(all));
    } catch (error) {
      return;
    }
    show();
  }

  function text(heading) {
    return heading.textContent.replace(/#\s*$/, "").trim();
  }

  function add(parent, tag, words) {
    var node = document.createElement(tag);
    node.className = "course-place";
    node.textContent = words;
    parent.appendChild(node);
    return node;
  }

  /** Add a link to the section of a chapter that was read last. */
  function link(parent, path, words) {
    var place = places()[path];
    add(parent, "a", words).href = root + path + (place.id ? "#" + place.id : "");
  }

  function note(parent) {
    var words = add(parent, "p", "Your place is kept in this browser and sent nowhere. ");
    var button = add(words, "button", "Forget it");
    button.type = "button";
    button.addEventListener("click", function () {
      localStorage.removeItem(store);
      show();
      var said = add(parent, "p", "Forgotten.");
      said.tabIndex = -1;
      said.focus();
    });
  }

  function show() {
    var all = places();
    var last = Object.keys(all).sort(function (a, b) { return all[b].when - all[a].when; })[0];
    document.querySelectorAll(".course-place").forEach(function (old) { old.remove(); });
    if (welcome) welcome.replaceChildren.apply(welcome, begin.cloneNode(true).childNodes);
    if (!last) return;
    if (welcome) {
      welcome.textContent = "";
      link(welcome, last, "Continue: " + all[last].title
        + (all[last].section ? " · " + all[last].section : ""));
      note(welcome);
    }
    if (!contents) return;
    contents.querySelectorAll("a[href]").forEach(function (chapter) {
      var path = chapter.pathname.slice(root.length);
      var place = all[path];
      if (!place) return;
      var done = place.answered.length;
      if (done) {
        add(chapter, "small", done < place.questions
          ? done + " of " + place.questions + " questions answered" : "self-test done");
      }
      if (path === last && path !== page && place.section) {
        link(chapter.parentNode, path, "Continue: " + place.section);
      }
    });
    note(contents);
  }

  if (/^chapters\/\d/.test(page)) {
    var sections = Array.from(document.querySelectorAll(".bd-article section section[id]"));
    var seen = new Set();
    var reading = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (entry.isIntersecting) seen.add(entry.target);
        else seen.delete(entry.target);
      });
      var now = sections.filter(function (section) { return seen.has(section); }).pop();
      if (now) keep(function (here) {
        here.id = now.id;
        here.section = text(now.querySelector("h2, h3, h4"));
      });
    }, { rootMargin: "-20% 0px -75%" });
    sections.forEach(function (section) { reading.observe(section); });
    document.querySelectorAll(".course-right").forEach(function (choice) {
      choice.addEventListener("toggle", function () {
        var id = choice.parentNode.id;
        if (choice.open) keep(function (here) {
          if (here.answered.indexOf(id) < 0) here.answered.push(id);
        });
      });
    });
  }
  show();
})();
