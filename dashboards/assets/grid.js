// How grids look and what their cells hold; rows come written from the server.
window.dashAgGridFunctions = window.dashAgGridFunctions || {};
window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {};

window.dashAgGridFunctions.cotraceTheme = (quartz) =>
  quartz.withParams({
    backgroundColor: "var(--card)",
    foregroundColor: "var(--ink)",
    headerBackgroundColor: "var(--card)",
    headerTextColor: "var(--muted)",
    headerFontWeight: 600,
    borderColor: "var(--line)",
    accentColor: "var(--accent)",
    rowHoverColor: "var(--hover)",
    oddRowBackgroundColor: "var(--card)",
    fontFamily: "inherit",
    fontSize: 13.5,
    rowHeight: "var(--row)",
    spacing: 6,
    wrapperBorder: false,
    wrapperBorderRadius: 0,
    headerColumnResizeHandleColor: "var(--line)",
    inputFocusBorder: "solid 1px var(--accent)",
    menuBackgroundColor: "var(--card)",
  });

const LONG = 26; // letters of a link beyond which it takes two lines
window.dashAgGridComponentFunctions.CotraceLink = (props) =>
  props.data && props.data["→ href"] ? React.createElement("a", { href: "." + props.data["→ href"], className: String(props.value).length > LONG ? "two-lines" : "", title: props.data["→ code"] || props.value }, props.value) : props.value || null;

window.dashAgGridComponentFunctions.CotraceLines = (props) =>
  React.createElement("span", { className: "two-lines", title: `${props.value || ""}\n${(props.data && props.data["→ code"]) || ""}`.trim() }, props.value);

// A row's link by keyboard: the focus is on a cell, not on the link in it.
window.dashAgGridFunctions.cotraceOpen = (params) => {
  if (params.event.key === "Enter") params.event.target.closest(".ag-row")?.querySelector("a")?.click();
};

// Pixels of a page below a grid that fills the window.
const UNDER_GRID = 70;

// Columns beyond the right edge: it fades while there are some.
window.dashAgGridFunctions.cotraceEdge = (params) => {
  const root = document.querySelector(`[grid-id="${params.api.getGridId()}"]`);
  const box = root && root.closest(".grid-box");
  const shown = root && root.querySelector(".ag-center-cols-viewport");
  if (!box || !shown) return;
  box.classList.toggle("more", shown.scrollLeft + shown.clientWidth < shown.scrollWidth - 2);
  // As high as its heading and its rows, or the first of them and half of the next: a heading can have two lines, a table a scroll bar.
  const row = root.querySelector(".ag-center-cols-container .ag-row");
  const all = params.api.getDisplayedRowCount();
  if (!row || !all) return;
  const grid = root.closest(".cotrace-grid");
  const around = grid.offsetHeight - root.querySelector(".ag-body-viewport").clientHeight;
  const { most, fills } = params.context;
  const free = window.innerHeight - window.scrollY - grid.getBoundingClientRect().top - around - UNDER_GRID;
  const fitting = fills ? Math.max(most, Math.floor(free / row.offsetHeight)) : most;
  const rows = all > fitting ? fitting + 0.5 : all;
  const height = `${around + rows * row.offsetHeight}px`;
  if (grid.style.height !== height) grid.style.height = height;
};
