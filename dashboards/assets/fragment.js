// The component dashboards.parts.Fragment: escaped HTML as it came from the server, in a box that takes no part in the layout.
window.cotrace = window.cotrace || {};
window.cotrace.Fragment = function Fragment(props) {
  return React.createElement("div", { className: "fragment", dangerouslySetInnerHTML: { __html: props.html } });
};
