// New data: a page that follows the store (data-live) is drawn again, any other says that there is some.
(() => {
  const app = (window.cotrace = window.cotrace || {});
  const EVERY_MS = 3000;
  let known = null; // what the store was when this page was drawn; empty where there was no telling: what comes is new
  let mine = 0; // until then what changes in the store is what this browser has just saved

  app.drawnOf = (state) => {
    known = state;
    document.getElementById("news").replaceChildren();
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-writes]")) mine = Date.now() + 2 * EVERY_MS;
  });

  const redraw = () => dash_clientside.set_props("redraw", { data: Date.now() });

  const tell = () => {
    const button = document.createElement("button");
    button.className = "choice chosen";
    button.textContent = "new data: refresh";
    button.addEventListener("click", redraw);
    document.getElementById("news").replaceChildren(button);
  };

  const look = async () => {
    if (document.hidden || !document.getElementById("news")) return;
    const drawn = known;
    const answer = await fetch("/-/state").catch(() => null);
    const now = answer && answer.ok ? await answer.text() : "";
    if (!now || drawn === null || known !== drawn || now === drawn) return; // no telling, nothing drawn yet, drawn again meanwhile, or no news
    known = now;
    if (Date.now() <= mine) return;
    if (document.querySelector("[data-live]")) redraw();
    else tell();
  };
  setInterval(look, EVERY_MS);
})();
