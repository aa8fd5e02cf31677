// Making elements: the page has no HTML from strings, so nobody's name or message can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return a new HTML element; `props`: class, key, on {event: listener}, aria-*, data-*, any attribute or property. */
export function h(tag, props = {}, ...children) {
  return dressed(document.createElement(tag), props, children);
}

/** Return a new SVG element, likewise. */
export function svg(tag, props = {}, ...children) {
  return dressed(document.createElementNS(SVG, tag), props, children);
}

function dressed(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "key") {
      element.dataset.key = value;
    } else if (name === "value") {
      element.value = value;
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Replace what is in `container`, keeping the focus on the element with the same key. */
export function render(container, ...children) {
  const active = document.activeElement;
  const key = container.contains(active) ? active.dataset.key : undefined;
  container.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (key !== undefined) byKey(container, key)?.focus();
}

/** The element of a key inside `container`, or null. */
function byKey(container, key) {
  return container.querySelector(`[data-key="${CSS.escape(key)}"]`);
}

/** A push button. `props.kind`: "primary", "quiet" or nothing. */
export function button(label, onClick, { kind = "", ...props } = {}) {
  const classes = ["button", kind, props.class].filter(Boolean).join(" ");
  return h("button", { type: "button", ...props, class: classes, on: { click: onClick } }, label);
}

/** A drawing from the sprite in index.html, decoration only. */
export function icon(name) {
  return svg("svg", { class: "icon", "aria-hidden": "true", viewBox: "0 0 24 24" }, svg("use", { href: `#i-${name}` }));
}

/** A modal dialog with a heading and a way out; removed once closed. */
export function openDialog(title, content, { key, closeLabel }) {
  closeDialog(key);
  const heading = h("h2", { id: `dialog-${key}` }, title);
  const close = button(icon("close"), () => dialog.close(), {
    kind: "quiet",
    class: "dialog-close",
    "aria-label": closeLabel,
  });
  const dialog = h(
    "dialog",
    { "data-dialog": key, "aria-labelledby": `dialog-${key}` },
    h("header", {}, heading, close),
    content,
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    document.dispatchEvent(new Event("dialogclosed"));
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Close the dialog of a key, if it is open; at once, so that the focus is free. */
export function closeDialog(key) {
  const dialog = document.querySelector(`dialog[data-dialog="${key}"]`);
  dialog?.close();
  dialog?.remove();
}
