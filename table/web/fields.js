// Fields of forms: a switch, a list, a number; and the control that a rule field asks for.

import { h } from "./dom.js";
import { t } from "./i18n.js";

/** A labelled switch. */
export function toggle(label, key, checked, onChange) {
  const box = h("input", {
    type: "checkbox",
    role: "switch",
    key,
    name: key,
    checked,
    on: { change: (event) => onChange(event.target.checked) },
  });
  return h("label", { class: "field switch" }, h("span", {}, label), box);
}

/** A labelled list; `options` are [value, text]. */
export function select(label, key, options, chosen, onChange) {
  const items = options.map(([value, text]) => h("option", { value, selected: value === chosen }, text));
  return h(
    "label",
    { class: "field" },
    h("span", {}, label),
    h("select", { key, name: key, on: { change: (event) => onChange(event.target.value) } }, items),
  );
}

/** The control of one rule field (docs/table_protocol.md), as its kind asks. `form` has value(name) and set(name, value). */
export function ruleField(form, field) {
  if (!field.choices) return number(form, field);
  return typeof field.choices[0].value === "boolean" ? flag(form, field) : choices(form, field);
}

function flag(form, { name, help }) {
  return toggle(t(help), name, form.value(name), (on) => form.set(name, on));
}

function choices(form, { name, help, choices: all }) {
  const options = all.map(({ value, text }) => [String(value), t(text)]);
  const read = (text) => all.find(({ value }) => String(value) === text).value;
  return select(t(help), name, options, String(form.value(name)), (text) => form.set(name, read(text)));
}

function number(form, { name, help, low, high, none }) {
  const value = form.value(name);
  const change = (event) =>
    event.target.reportValidity() && event.target.value !== "" && form.set(name, Number(event.target.value));
  const box = h("input", {
    type: "number",
    dir: "ltr",
    key: name,
    name,
    min: low,
    max: high,
    step: 1,
    value: value ?? "",
    disabled: value === null,
    on: { change },
  });
  const off = none ? noneSwitch(form, name, none, low, high) : null;
  return h("div", { class: "field number-field" }, h("label", {}, h("span", {}, t(help)), box), off);
}

/** A switch for "none", where a number may be missing; on the way back a usual number. */
function noneSwitch(form, name, none, low, high) {
  const usual =
    { mercy: -200, blind_nil_deficit: 100, max_team_bid: 13, max_deals: 10 }[name] ?? Math.max(low, Math.min(high, 1));
  const toggle = (event) => form.set(name, event.target.checked ? null : usual);
  return h(
    "label",
    { class: "none" },
    h("input", { type: "checkbox", key: `${name}-none`, checked: form.value(name) === null, on: { change: toggle } }),
    t(none),
  );
}
