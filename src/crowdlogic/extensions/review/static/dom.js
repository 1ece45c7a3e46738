// Elements made of text: nothing that comes from data is ever read as markup.

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; children that are no elements become text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Show other children in an element. */
export function show(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** Show a sentence, or hide the element where there is none. */
export function tell(element, sentence) {
  element.textContent = sentence;
  element.hidden = !sentence;
}

/** A share in percent; what is not quite all is never shown as 100%. */
export const percent = (share) => (share > 0.99 && share < 1 ? `${Math.min(100 * share, 99.9).toFixed(1)}%` : `${(100 * share).toFixed(0)}%`);

export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
