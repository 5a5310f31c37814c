// New data: a page that follows the store (data-live) is drawn again, any other says that there is some.
(() => {
  const EVERY_MS = 3000;
  let known = null;
  let mine = 0; // until then what changes in the store is what this browser has just saved

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-writes]")) mine = Date.now() + 2 * EVERY_MS;
  });

  const redraw = () => {
    document.getElementById("news").replaceChildren();
    dash_clientside.set_props("redraw", { data: known });
  };

  const tell = () => {
    const button = document.createElement("button");
    button.className = "choice chosen";
    button.textContent = "new data: refresh";
    button.addEventListener("click", redraw);
    document.getElementById("news").replaceChildren(button);
  };

  const look = async () => {
    if (document.hidden || !document.getElementById("news")) return;
    const answer = await fetch("/-/state").catch(() => null);
    if (!answer) return;
    if (!answer.ok) {
      known ??= ""; // there is no telling what the store was when this page was drawn: what comes is new
      return;
    }
    const now = await answer.text();
    if (known !== null && now !== known && Date.now() > mine) {
      known = now;
      if (document.querySelector("[data-live]")) redraw();
      else tell();
    }
    known = now;
  };
  setInterval(look, EVERY_MS);
})();
