/**
 * xterm puts its rules into `<style>` elements and colours into style attributes; the page's policy refuses both, and
 * allows the same through the object model. So: a hidden element in place of each `<style>`, whose text is adopted as a
 * style sheet; and spans that set a style attribute through their `style`.
 */

function standIn(stops: (() => void)[]): HTMLElement {
  const element = document.createElement("span");
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const observer = new MutationObserver(() => sheet.replaceSync(element.textContent ?? ""));
  observer.observe(element, { childList: true, characterData: true, subtree: true });
  stops.push(() => {
    observer.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== sheet);
  });
  return element;
}

/** Runs `open` with `<style>` elements replaced; what is to be undone when the terminal goes is added to `stops`. */
export function withSheets<T>(stops: (() => void)[], open: () => T): T {
  const create = document.createElement;
  const replaced = (tag: string, options?: ElementCreationOptions): HTMLElement => {
    if (tag !== "style") return create.call(document, tag, options);
    document.createElement = create;
    const element = standIn(stops);
    document.createElement = replaced;
    return element;
  };
  document.createElement = replaced;
  try {
    return open();
  } finally {
    // The own property goes: what is left is the one of every document.
    Reflect.deleteProperty(document, "createElement");
  }
}

/** Once, before the first terminal. Does for spans what the attribute would do, in a way that the policy allows. */
export function allowSpanStyles(): void {
  if (Object.hasOwn(HTMLSpanElement.prototype, "setAttribute")) return;
  const set = Element.prototype.setAttribute;
  Object.defineProperty(HTMLSpanElement.prototype, "setAttribute", {
    configurable: true,
    value(this: HTMLElement, name: string, value: string) {
      if (name === "style") this.style.cssText = value;
      else set.call(this, name, value);
    },
  });
}
