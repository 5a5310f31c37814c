// Before anything is drawn: the theme that the reader chose here, else what the system says.
(() => {
  const kept = localStorage.getItem("cotrace-theme");
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.dataset.agThemeMode = dark ? "dark" : "light";
})();
