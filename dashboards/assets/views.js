// Views: an address of any page under a name of one's own, kept in this browser; and print.
(() => {
  const views = window.cotrace.drawer("cotrace-views", "[data-views]", "view", (_, address) => address);

  document.addEventListener("toggle", (event) => event.target.matches && event.target.matches("details.views") && views.show(), true);
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-keep]")) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // it is no search
    const name = event.target.elements.view.value.trim();
    if (!name) return;
    views.keep(name, location.pathname + location.search);
    event.target.reset();
  }, true);
})();
