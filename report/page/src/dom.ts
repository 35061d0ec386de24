// Elements and numbers as text. Text from the data only ever becomes the content of text nodes.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** Small shares get a digit more. */
export const percent = (x: number, digits = Math.abs(x) < 0.02 ? 2 : 1) => `${(100 * x).toFixed(digits)}%`;

/** At most three digits that count. */
export function short(x: number): string {
  if (!Number.isFinite(x)) return "–";
  if (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e7)) return x.toExponential(1);
  if (Number.isInteger(x)) return x.toLocaleString("en");
  return Number(x.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${short(bytes / 1e3)} kB`;
  return `${short(bytes / 1e6)} MB`;
}

export const signed = (x: number, text: (x: number) => string) => (x >= 0 ? "+" : "−") + text(Math.abs(x));

/** A figure in a list of figures (a `dl` of the class tiles). */
export const tile = (value: string, name: string, note = "") => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, h("strong", {}, value), note ? h("small", {}, note) : null));

/** A panel of the page. */
export function panel(title: string, question: string, ...children: Child[]): HTMLElement {
  const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    h("p", { class: "question" }, question),
    ...children,
  );
}

export const missing = (text: string) => h("p", { class: "missing" }, text);

/** A table of texts, which scrolls where it is too wide; the first column is its rows' header. `numeric` columns are aligned to the right. */
export function table(caption: string, head: string[], rows: Child[][], numeric: number[] = []): HTMLElement {
  const style = (i: number): Attributes => (numeric.includes(i) ? { class: "number" } : {});
  const content = h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...head.map((text, i) => h("th", { scope: "col", ...style(i) }, text)))),
    h(
      "tbody",
      {},
      ...rows.map((row) =>
        h("tr", {}, ...row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", style(i), cell)))),
      ),
    ),
  );
  return h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": caption }, content);
}

/** Shows the first rows of a list, and a button for the rest. */
export function shortened<T>(items: T[], count: number, show: (items: T[]) => HTMLElement): HTMLElement {
  const box = h("div", {}, show(items.slice(0, count)));
  if (items.length > count) {
    const button = h("button", { type: "button", class: "more" }, `Show all ${items.length}`);
    button.addEventListener("click", () => box.replaceChildren(show(items)));
    box.append(button);
  }
  return box;
}

/** A bar from 0, for a table's cell; its number stands beside it. */
export function bar(share: number, text: string): HTMLElement {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  const track = h("span", { class: "track" }, h("span", { class: "fill", style: `width:${width}` }));
  return h("span", { class: "bar" }, track, h("span", {}, text));
}

/** Width of a figure where as many as fit stand side by side (the style's gap between them is 24). */
export function columnWidth(available: number, least: number): number {
  const count = Math.max(1, Math.floor((available + 24) / (least + 24)));
  return Math.floor((available - 24 * (Math.min(count, 3) - 1)) / Math.min(count, 3)) - 1;
}

export const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
