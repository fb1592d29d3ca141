// Remembers, in this browser alone, where a reader was in each chapter and which questions
// have been answered; shows it in the contents and on the welcome page.
(() => {
  "use strict";
  const root = new URL(document.documentElement.dataset.content_root, location).pathname;
  const store = `attention-measured ${root}`; // other sites may have the same host
  const page = location.pathname.slice(root.length);
  const welcome = document.getElementById("continue");
  const begin = welcome?.cloneNode(true);
  const contents = document.querySelector("nav.bd-links");

  function places() {
    try {
      return JSON.parse(localStorage.getItem(store)) || {};
    } catch {
      return {}; // no storage here, as in some private windows
    }
  }

  /** Keep what has changed of this page's place. */
  function keep(change) {
    const all = places();
    all[page] = {
      answered: [],
      ...all[page],
      when: Date.now(),
      title: text(document.querySelector("h1")),
      questions: document.querySelectorAll(".course-question").length,
      ...change,
    };
    try {
      localStorage.setItem(store, JSON.stringify(all));
    } catch {
      return;
    }
    show();
  }

  function text(heading) {
    return heading.textContent.replace(/#\s*$/, "").trim();
  }

  function add(parent, tag, words) {
    const node = document.createElement(tag);
    node.className = "course-place";
    node.textContent = words;
    parent.append(node);
    return node;
  }

  /** Add a link to the section of a chapter that was read last. */
  function link(parent, path, { id }, words) {
    add(parent, "a", `Continue: ${words}`).href = root + path + (id ? `#${id}` : "");
  }

  function note(parent) {
    const words = add(parent, "p", "Your place is kept in this browser and sent nowhere. ");
    const button = add(words, "button", "Forget it");
    button.type = "button";
    button.addEventListener("click", () => {
      localStorage.removeItem(store);
      show();
      const said = add(parent, "p", "Forgotten.");
      said.tabIndex = -1;
      said.focus();
    });
  }

  function show() {
    const all = places();
    const [last] = Object.keys(all).sort((a, b) => all[b].when - all[a].when);
    document.querySelectorAll(".course-place").forEach((old) => old.remove());
    welcome?.replaceChildren(...begin.cloneNode(true).childNodes);
    if (!last) return;
    if (welcome) {
      const { title, section } = all[last];
      welcome.textContent = "";
      link(welcome, last, all[last], title + (section ? ` · ${section}` : ""));
      note(welcome);
    }
    if (!contents) return;
    for (const chapter of contents.querySelectorAll("a[href]")) {
      const path = chapter.pathname.slice(root.length);
      if (!all[path]) continue;
      const { answered, questions, section } = all[path];
      const some = `${answered.length} of ${questions} questions answered`;
      if (answered.length) {
        add(chapter, "small", answered.length < questions ? some : "self-test done");
      }
      if (path === last && path !== page && section) {
        link(chapter.parentNode, path, all[path], section);
      }
    }
    note(contents);
  }

  if (/^chapters\/\d/.test(page)) {
    const sections = [...document.querySelectorAll(".bd-article section section[id]")];
    const seen = new Set();
    const reading = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) seen.add(target);
        else seen.delete(target);
      }
      const now = sections.findLast((section) => seen.has(section));
      if (now) keep({ id: now.id, section: text(now.querySelector("h2, h3, h4")) });
    }, { rootMargin: "-20% 0px -75%" });
    sections.forEach((section) => reading.observe(section));
    for (const choice of document.querySelectorAll(".course-right")) {
      choice.addEventListener("toggle", () => {
        const answered = places()[page]?.answered ?? [];
        if (choice.open) keep({ answered: [...new Set([...answered, choice.parentNode.id])] });
      });
    }
  }
  show();
})();
