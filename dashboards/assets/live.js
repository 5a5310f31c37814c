// New data: a page that follows the store (data-live) is drawn again, any other says that there is some.
(() => {
  const app = (window.cotrace = window.cotrace || {});
  const EVERY_MS = 3000;
  let known = null; // what the store was when this page was drawn; empty where there was no telling: what comes is new
  let refused = ""; // why the last look got no answer
  let mine = 0; // until then what changes in the store is what this browser has just saved

  app.drawnOf = (state) => {
    known = state;
    document.getElementById("news").replaceChildren();
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-writes]")) mine = Date.now() + 2 * EVERY_MS;
  });

  const redraw = () => dash_clientside.set_props("redraw", { data: Date.now() });

  const say = (name, text) => {
    const said = document.createElement(name);
    said.className = "choice chosen";
    said.textContent = text;
    document.getElementById("news").replaceChildren(said);
    return said;
  };

  // The line in which the server says why it does not answer; without a server there is none.
  const refusal = async (answer) => (answer ? (await answer.text()).trim() : "cotrace dash does not answer: is it still running?");

  const look = async () => {
    if (document.hidden || !document.getElementById("news")) return;
    const drawn = known;
    const answer = await fetch("./-/state").catch(() => null);
    if (!answer || !answer.ok) {
      const why = await refusal(answer);
      if (refused !== why) say("span", why);
      refused = why;
      return;
    }
    if (refused) {
      refused = "";
      document.getElementById("news").replaceChildren();
      if (app.shownAt !== location.pathname + location.search) redraw(); // where a click led meanwhile
    }
    const now = await answer.text();
    if (!now || drawn === null || known !== drawn || now === drawn) return; // no telling, nothing drawn yet, drawn again meanwhile, or no news
    known = now;
    if (Date.now() <= mine) return;
    if (document.querySelector("[data-live]")) redraw();
    else say("button", "new data: refresh").addEventListener("click", redraw);
  };
  setInterval(look, EVERY_MS);
})();
