// Views: an address of any page under a name of one's own, kept in this browser; and print.
(() => {
  const KEY = "cotrace-views";
  const kept = () => JSON.parse(localStorage.getItem(KEY) || "{}");
  const keep = (views) => (localStorage.setItem(KEY, JSON.stringify(views)), show());

  const show = () => {
    const list = document.querySelector("[data-views]");
    if (!list) return;
    list.replaceChildren(
      ...Object.entries(kept()).map(([name, href]) => {
        const line = document.createElement("li");
        const link = document.createElement("a");
        link.href = href;
        link.textContent = name;
        const away = document.createElement("button");
        away.type = "button";
        away.className = "quiet";
        away.textContent = "×";
        away.dataset.forgetView = name;
        away.setAttribute("aria-label", "forget the view " + name);
        line.append(link, away);
        return line;
      }),
    );
    list.hidden = !list.children.length;
  };

  document.addEventListener("toggle", (event) => event.target.matches && event.target.matches("details.views") && show(), true);
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-keep]")) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // it is no search
    const name = event.target.elements.view.value.trim();
    if (!name) return;
    keep({ ...kept(), [name]: location.pathname + location.search });
    event.target.reset();
  }, true);
  document.addEventListener("click", (event) => {
    const gone = event.target.closest("[data-forget-view]");
    if (gone) {
      const { [gone.dataset.forgetView]: _, ...rest } = kept();
      keep(rest);
    }
    if (event.target.closest("[data-print]")) window.print();
  });
})();
