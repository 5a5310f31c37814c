// The field of the SQL page: completion of tables and columns, Ctrl-Enter, and queries that this browser keeps by name.
(() => {
  let words = null; // table -> its columns
  let list = null;
  let field = null;

  const load = async (address) => (words = words || (await (await fetch(address)).json()));
  const token = () => /[A-Za-z_][\w.]*$/.exec(field.value.slice(0, field.selectionStart));
  const named = () => Object.keys(words).filter((table) => new RegExp("\\b" + table + "\\b", "i").test(field.value));

  const found = (begun) => {
    const [, table, start] = /^(?:(\w+)\.)?(\w*)$/.exec(begun) || [];
    if (start === undefined) return [];
    const columns = (table ? [table] : named()).flatMap((name) => words[name] || []);
    const all = table ? columns : [...columns, ...Object.keys(words)];
    const fits = [...new Set(all)].filter((word) => word.toLowerCase().startsWith(start.toLowerCase()) && word !== start);
    fits.sort((one, other) => one.length - other.length); // "gam" is games before game_failures
    return fits.slice(0, 12).map((word) => (table ? table + "." + word : word));
  };

  const close = () => {
    if (list) list.remove();
    list = null;
    if (field) field.setAttribute("aria-expanded", "false");
  };

  const offer = async () => {
    await load(field.dataset.complete);
    const begun = token();
    const fits = begun && begun[0].length > 1 ? found(begun[0]) : [];
    close();
    if (!fits.length || document.activeElement !== field) return;
    list = document.createElement("ul");
    list.className = "completion";
    list.id = "completion";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "tables and columns");
    fits.forEach((word, place) => {
      const line = document.createElement("li");
      line.textContent = word;
      line.setAttribute("role", "option");
      line.setAttribute("aria-selected", String(place === 0));
      line.addEventListener("mousedown", (event) => (event.preventDefault(), take(word)));
      list.append(line);
    });
    field.setAttribute("aria-expanded", "true");
    field.parentElement.append(list);
  };

  const take = (word) => {
    const begun = token();
    const at = field.selectionStart;
    field.setRangeText(word, at - (begun ? begun[0].length : 0), at, "end");
    close();
  };

  const move = (step) => {
    const lines = [...list.children];
    const now = lines.findIndex((line) => line.getAttribute("aria-selected") === "true");
    lines.forEach((line, place) => line.setAttribute("aria-selected", String(place === (now + step + lines.length) % lines.length)));
  };

  document.addEventListener("input", (event) => {
    if (!event.target.dataset.complete) return;
    field = event.target;
    offer();
  });
  document.addEventListener("keydown", (event) => {
    if (!event.target.dataset || !event.target.dataset.complete) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return event.preventDefault(), close(), event.target.form.requestSubmit();
    if (!list) return;
    if (event.key === "Tab") event.preventDefault(), take(list.querySelector('[aria-selected="true"]').textContent);
    else if (event.key === "ArrowDown") event.preventDefault(), move(1);
    else if (event.key === "ArrowUp") event.preventDefault(), move(-1);
    else if (event.key === "Escape") close();
  });
  document.addEventListener("focusout", (event) => event.target === field && close());

  const queries = window.cotrace.drawer("cotrace-queries", "[data-saved]", "query", (name, query) => "./sql?" + new URLSearchParams({ query, name }));
  window.cotrace.showSaved = queries.show;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-save]");
    if (!button) return;
    const asked = new FormData(button.form);
    if (asked.get("name").trim() && asked.get("query").trim()) queries.keep(asked.get("name").trim(), asked.get("query"));
  });
})();
