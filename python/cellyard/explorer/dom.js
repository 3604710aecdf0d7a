// Elements of the page.

/** An element with attributes and what is in it; texts never become markup. */
export function element(tag, attributes = {}, ...inner) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, '');
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...inner);
  return made;
}

/** An element of a drawing. */
export function drawn(tag, attributes, ...inner) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inner);
  return made;
}

export function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) => element('option', { value }, text)));
}

/** Offers a file to be saved. */
export function save(name, blob) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
