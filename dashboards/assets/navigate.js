// Links, the search form, the theme and figures' files: what is the same on every page.
(() => {
  const app = (window.cotrace = window.cotrace || {});

  app.go = (href) => {
    history.pushState({}, "", href);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
  };

  // A new page begins at its top and has the focus; another choice or turn on the same page moves nothing. A saved label begins the next unit.
  let shown = null;
  let held = null; // what had the focus, by its key, before the page was drawn afresh
  const place = () => {
    const asked = new URLSearchParams(location.search);
    return [location.pathname, asked.get("saved"), asked.get("episode")].join("#");
  };
  app.await = (drawn) => {
    if (!drawn) return;
    document.title = drawn.title + " – cotrace";
    if (document.querySelector(`[data-drawing="${drawn.drawing}"]`)) arrived(drawn);
    else requestAnimationFrame(() => app.await(drawn));
  };
  const arrived = (drawn) => {
    app.drawnOf(drawn.state);
    app.shownAt = location.pathname + location.search;
    refold();
    if (app.showSaved) app.showSaved();
    if (shown !== null && shown !== place()) {
      window.scrollTo(0, 0);
      document.getElementById("page").focus({ preventScroll: true });
    } else if (held && document.activeElement === document.body) {
      const again = document.querySelector(`[data-key="${held}"], [data-focus="${held}"]`);
      (again || document.getElementById("page")).focus({ preventScroll: true });
    }
    const message = document.querySelector(".conversation .message.current");
    if (message && new URLSearchParams(location.search).has("turn")) message.scrollIntoView({ block: "start" });
    const here = document.querySelector(".timeline .current");
    if (here) {
      const row = here.parentElement;
      const aside = here.offsetLeft - row.offsetLeft;
      if (aside < row.scrollLeft || aside + here.offsetWidth > row.scrollLeft + row.clientWidth) row.scrollLeft = aside - row.clientWidth / 3;
    }
    shown = place();
  };
  document.addEventListener("focusin", (event) => {
    held = event.target.dataset.key || event.target.dataset.focus || null;
  });

  // In a conversation j and k go to the next message and the one before, n and p to those that are marked; the address goes along.
  const STEPS = { j: [1, ""], k: [-1, ""], n: [1, ".flagged"], p: [-1, ".flagged"] };
  const stepped = (key) => {
    const all = [...document.querySelectorAll(".conversation .message")];
    if (!all.length || !STEPS[key]) return false;
    const [way, wanted] = STEPS[key];
    let place = all.findIndex((one) => one.classList.contains("current")) + way;
    while (all[place] && wanted && !all[place].matches(wanted)) place += way;
    if (!all[place]) return true;
    for (const one of all) one.classList.toggle("current", one === all[place]);
    const asked = new URLSearchParams(location.search);
    asked.set("turn", all[place].dataset.turn);
    history.replaceState(history.state, "", `${location.pathname}?${asked}`);
    all[place].scrollIntoView({ block: "start" });
    return true;
  };

  // Keys: a link or button with data-key is clicked, a field with data-focus gets the cursor.
  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input, textarea, select, .ag-root, [contenteditable]")) return;
    if (stepped(event.key)) return event.preventDefault();
    const name = CSS.escape(event.key);
    const field = event.key === "/" ? document.getElementById("search-words") : document.querySelector(`[data-focus="${name}"]`);
    const target = document.querySelector(`[data-key="${name}"]`);
    if (!field && !target) return;
    event.preventDefault();
    if (field) field.focus();
    else target.click();
  });

  // Folds that a person opened stay open from turn to turn.
  const folds = new Map();
  document.addEventListener("toggle", (event) => {
    const name = event.target.dataset && event.target.dataset.fold;
    if (name) folds.set(name, event.target.open);
  }, true);
  const refold = () => {
    for (const fold of document.querySelectorAll("details[data-fold]")) {
      if (folds.has(fold.dataset.fold)) fold.open = folds.get(fold.dataset.fold);
    }
  };

  // Dash calls the labels of answers options of a list box, around inputs that are named by them already: screen readers met each twice.
  new MutationObserver(() => {
    for (const label of document.querySelectorAll(".question label[aria-selected]")) {
      for (const one of [label, label.parentElement]) for (const name of ["role", "aria-selected"]) one.removeAttribute(name);
    }
  }).observe(document, { childList: true, subtree: true, attributeFilter: ["aria-selected"] });

  // Play through: a turn every second and a half, until the end, another page, or a second press.
  let playing = null;
  const stop = () => {
    clearInterval(playing);
    playing = null;
    delete document.documentElement.dataset.playing;
  };
  const play = () => {
    if (playing) return stop();
    document.documentElement.dataset.playing = "";
    playing = setInterval(() => {
      const next = document.querySelector('[data-key="ArrowRight"]');
      if (next) next.click();
      else stop();
    }, 1500);
  };

  // Browsers give their clipboard to pages of this machine or over HTTPS alone; elsewhere a field that is marked can be copied.
  app.copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) throw new Error("the browser copies nothing");
  };
  const told = (button, text) => {
    const before = button.dataset.before || (button.dataset.before = button.textContent);
    button.textContent = text;
    button.focus();
    setTimeout(() => (button.textContent = before), 1500);
  };

  const isOurs = (link) =>
    link.origin === location.origin && !link.target && !link.hasAttribute("download") && link.dataset.download === undefined &&
    !link.pathname.includes("/-/");

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest("a[href]");
    if (link && link.closest("#frame") && isOurs(link) && !(link.hash && link.pathname === location.pathname)) {
      event.preventDefault();
      app.go(link.href);
    }
    const picture = event.target.closest("[data-picture]");
    if (picture) app.save(picture.closest(".figure").querySelector(".js-plotly-plot"), picture.dataset.picture);
    if (event.target.closest("[data-play]")) play();
    const menu = event.target.closest("[data-menu]");
    if (menu) menu.setAttribute("aria-expanded", menu.getAttribute("aria-expanded") === "true" ? "false" : "true");
    const copier = event.target.closest("[data-copy]");
    if (copier) app.copy(location.href).then(() => told(copier, "copied"), () => told(copier, "not copied"));
    if (event.target.closest("#theme")) app.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    for (const box of document.querySelectorAll("details.facet-box[open], details.nav-more[open], details.menu[open]")) {
      if (!box.contains(event.target)) box.open = false;
    }
  });

  document.addEventListener("submit", (event) => {
    if (!event.target.closest("#frame") || event.target.method !== "get") return;
    event.preventDefault();
    const asked = [...new FormData(event.target)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
    app.go(new URL(event.target.action).pathname + "?" + new URLSearchParams(asked));
  });

  app.setTheme = (theme) => {
    localStorage.setItem("cotrace-theme", theme);
    document.documentElement.dataset.theme = theme;
    document.documentElement.dataset.agThemeMode = theme;
  };

  // Figures are saved as they look on light paper, with a ground of their own.
  // Their caption is below them; a PDF is made by the browser's printing, on a sheet of the figure's size.
  app.save = async (figure, kind) => {
    const { width, height: plot } = figure.getBoundingClientRect();
    const caption = figure.closest(".figure").querySelector(".caption");
    const lines = caption ? wrapped(caption.textContent, Math.floor(width / 5.6)) : [];
    const height = plot + 14 * lines.length + (lines.length ? 10 : 0);
    const margin = { ...figure._fullLayout.margin, b: figure._fullLayout.margin.b + height - plot };
    const below = { text: lines.join("<br>"), x: 0, xref: "container", xanchor: "left", y: 0, yref: "container", yanchor: "bottom", align: "left", showarrow: false, font: { size: 11 } };
    const layout = { ...figure.layout, paper_bgcolor: "white", width, height };
    if (lines.length) Object.assign(layout, { margin, annotations: [...(figure.layout.annotations || []), below] });
    const picture = { format: kind === "pdf" ? "svg" : kind, width, height };
    if (kind !== "pdf") return Plotly.downloadImage({ data: figure.data, layout }, { ...picture, scale: kind === "png" ? 2 : 1, filename: "cotrace" });
    const image = await Plotly.toImage({ data: figure.data, layout }, picture);
    const sheet = document.createElement("iframe");
    sheet.className = "sheet";
    sheet.title = "figure to print";
    sheet.srcdoc = `<style>@page { size: ${width}px ${height}px; margin: 0 } body { margin: 0 }</style><img alt="" width="${width}" src="${image}">`;
    sheet.onload = () => sheet.contentWindow.print();
    document.querySelectorAll("iframe.sheet").forEach((old) => old.remove());
    document.body.append(sheet);
  };

  const wrapped = (text, most) => {
    const lines = [""];
    for (const word of text.replace(/[<&]/g, (sign) => (sign === "<" ? "&lt;" : "&amp;")).split(" ")) {
      if (lines[lines.length - 1].length + word.length >= most) lines.push("");
      lines[lines.length - 1] += (lines[lines.length - 1] ? " " : "") + word;
    }
    return lines;
  };

  // What was open stays open when a filter is chosen, and the cursor stays where it was.
  let open = false;
  let narrowing = "";
  document.addEventListener("toggle", (event) => {
    if (event.target.matches && event.target.matches("details.facet-box")) {
      open = event.target.open;
      if (open) dress(event.target);
    }
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const box of document.querySelectorAll("details.facet-box[open], details.nav-more[open], details.menu[open]")) {
      box.open = false;
      box.querySelector("summary").focus();
    }
  });

  const dress = (box) => {
    for (const place of box.querySelectorAll("[data-narrow]")) {
      if (place.firstChild && place.firstChild.tagName === "INPUT") continue;
      const input = document.createElement("input");
      input.type = "search";
      input.placeholder = "narrow";
      input.setAttribute("aria-label", "narrow the list: " + place.dataset.narrow);
      input.addEventListener("input", () => {
        narrowing = input.value.toLowerCase();
        for (const line of place.closest(".facet").querySelectorAll("li")) line.hidden = !line.textContent.toLowerCase().includes(narrowing);
      });
      place.replaceChildren(input);
    }
  };

  // Dash fills #filters afresh for every address: its box stays open while values are chosen.
  const start = new MutationObserver(() => {
    const filters = document.getElementById("filters");
    if (!filters) return;
    start.disconnect();
    new MutationObserver(() => {
      const box = filters.querySelector("details.facet-box");
      if (box && open) box.open = true;
    }).observe(filters, { childList: true });
  });
  start.observe(document.documentElement, { childList: true, subtree: true });
})();
