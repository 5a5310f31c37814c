// Links, the search form, the theme and figures' files: what is the same on every page.
(() => {
  const app = (window.cotrace = window.cotrace || {});

  app.go = (href) => {
    history.pushState({}, "", href);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
  };

  // A new page begins at its top and has the focus; another choice on the same page moves nothing. A saved label begins the next unit.
  let shown = null;
  const place = () => location.pathname + "#" + (new URLSearchParams(location.search).get("saved") || "");
  app.arrived = () => {
    if (shown !== null && shown !== place()) {
      window.scrollTo(0, 0);
      document.getElementById("page").focus({ preventScroll: true });
    }
    shown = place();
  };

  const isOurs = (link) =>
    link.origin === location.origin && !link.target && !link.hasAttribute("download") && link.dataset.download === undefined &&
    !link.pathname.startsWith("/-/");

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest("a[href]");
    if (link && link.closest("#frame") && isOurs(link) && !(link.hash && link.pathname === location.pathname)) {
      event.preventDefault();
      app.go(link.href);
    }
    const picture = event.target.closest("[data-picture]");
    if (picture) app.save(picture.closest(".figure").querySelector(".js-plotly-plot"), picture.dataset.picture);
    if (event.target.closest("#theme")) app.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    for (const box of document.querySelectorAll("details.facet-box[open], details.nav-more[open], details.menu[open]")) {
      if (!box.contains(event.target)) box.open = false;
    }
  });

  document.addEventListener("submit", (event) => {
    if (event.target.id !== "search-form") return;
    event.preventDefault();
    const words = new FormData(event.target).get("q").trim();
    if (words) app.go("/search?" + new URLSearchParams({ q: words }));
  });

  app.setTheme = (theme) => {
    localStorage.setItem("cotrace-theme", theme);
    document.documentElement.dataset.theme = theme;
    document.documentElement.dataset.agThemeMode = theme;
  };

  // Figures are saved as they look on light paper, with a ground of their own.
  app.save = (figure, kind) => {
    const { width, height } = figure.getBoundingClientRect();
    const layout = { ...figure.layout, paper_bgcolor: "white", width, height };
    Plotly.downloadImage({ data: figure.data, layout }, { format: kind, width, height, scale: kind === "png" ? 2 : 1, filename: "cotrace" });
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

  // Dash fills #filters and #page afresh for every address.
  const watch = (id, then) => {
    const box = document.getElementById(id);
    if (!box) return false;
    new MutationObserver(then).observe(box, { childList: true });
    return true;
  };
  const start = new MutationObserver(() => {
    if (!watch("page", app.arrived)) return;
    start.disconnect();
    watch("filters", () => {
      const box = document.querySelector("#filters details.facet-box");
      if (box && open) box.open = true;
    });
  });
  start.observe(document.documentElement, { childList: true, subtree: true });
})();
