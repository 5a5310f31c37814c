// Links under names of one's own, kept in this browser: a list on the page, each line with a button that forgets it.
(() => {
  window.cotrace = window.cotrace || {};

  const line = (name, href, what, forget) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = href;
    link.textContent = name;
    const away = document.createElement("button");
    away.type = "button";
    away.className = "quiet";
    away.textContent = "×";
    away.setAttribute("aria-label", `forget the ${what} ${name}`);
    away.addEventListener("click", forget);
    item.append(link, away);
    return item;
  };

  // key: where the browser keeps them; place: the list's selector; what: a word for one; href: from what was kept to an address
  window.cotrace.drawer = (key, place, what, href) => {
    const kept = () => JSON.parse(localStorage.getItem(key) || "{}");
    const write = (all) => (localStorage.setItem(key, JSON.stringify(all)), show());
    const forget = (name) => {
      const { [name]: _, ...rest } = kept();
      write(rest);
    };
    const show = () => {
      const list = document.querySelector(place);
      if (!list) return;
      list.replaceChildren(...Object.entries(kept()).map(([name, content]) => line(name, href(name, content), what, () => forget(name))));
      list.hidden = !list.children.length;
    };
    return { show, keep: (name, content) => write({ ...kept(), [name]: content }) };
  };
})();
