// The marks of a figure that lead somewhere, as a list of links: the way for keyboards and screen readers. The mark of the link with the focus is shown.
(() => {
  const text = (marked) => new DOMParser().parseFromString(marked.replace(/<br>/g, ", "), "text/html").body.textContent.trim();
  const isNothing = (value) => value === null || value === undefined || Number.isNaN(value);

  // What the axis writes at a value: names of lines stand at whole numbers, dots of several series around them.
  const written = (axis, value) => {
    const place = axis && axis.tickvals ? [...axis.tickvals].indexOf(Math.round(value)) : -1;
    return String(place >= 0 && axis.ticktext ? axis.ticktext[place] : value);
  };
  const axisOf = (plot, trace, side) => plot._fullLayout[(trace[`${side}axis`] || side).replace(side, `${side}axis`)];

  // What the pointer shows, with the line of the axis.
  const described = (plot, trace, at) => {
    const line = written(axisOf(plot, trace, "y"), trace.y[at]);
    const data = trace.customdata[at];
    const values = { x: trace.x[at], y: line, "fullData.name": trace.name, customdata: data };
    const filled = (trace.hovertemplate || "%{customdata[1]}").replace(/%\{([\w.]+)(?:\[(\d+)\])?(?::[^}]*)?\}/g, (_, name, place) => {
      if (place !== undefined) return data[place];
      if (name in values) return values[name];
      return Array.isArray(trace[name]) ? trace[name][at] : trace[name];
    });
    const shown = text(filled.replace(/<extra>(.+?)<\/extra>/, ", $1"));
    const name = text(line).split(", ")[0];
    return /\p{L}{2}/u.test(name) && !shown.includes(name) ? `${text(line)}: ${shown}` : shown;
  };

  const links = (plot) => {
    const found = [];
    for (const [curve, trace] of plot._fullData.entries()) {
      if (!Array.isArray(trace.customdata) || trace.visible !== true) continue;
      const size = trace.type === "bar" ? trace[trace.orientation === "h" ? "x" : "y"] : trace.y;
      trace.customdata.forEach((data, at) => {
        const target = [].concat(data).find((one) => typeof one === "string" && one.startsWith("/"));
        if (!target || isNothing(size[at]) || (trace.type === "bar" && !size[at])) return;
        const link = document.createElement("a");
        link.href = "." + target;
        link.className = "choice";
        link.textContent = described(plot, trace, at);
        const subplot = (trace.xaxis || "x") + (trace.yaxis || "y");
        link.addEventListener("focus", () => Plotly.Fx.hover(plot, [{ curveNumber: curve, pointNumber: at }], subplot));
        link.addEventListener("blur", () => plot._fullLayout && Plotly.Fx.unhover(plot, undefined, subplot)); // unless it has gone
        found.push(link);
      });
    }
    return found;
  };

  // Links that have gone with the last closing take no focus before the new ones are there.
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches || !event.target.matches("[data-marks]")) return;
    const found = event.target.open ? links(event.target.closest(".figure").querySelector(".js-plotly-plot")) : [];
    event.target.lastElementChild.replaceChildren(...found);
  }, true);
})();
