/** A document for component tests: happy-dom's, put where components look for it. */
import { Window } from "happy-dom";
import { render } from "preact";
import type { ComponentChild } from "preact";

const GLOBALS = [
  "window",
  "document",
  "Node",
  "Element",
  "HTMLElement",
  "HTMLInputElement",
  "HTMLTextAreaElement",
  "HTMLSelectElement",
  "HTMLButtonElement",
  "HTMLDialogElement",
  "Event",
  "MouseEvent",
  "KeyboardEvent",
  "CSS",
  "matchMedia",
  "innerWidth",
  "innerHeight",
] as const;

export interface Page {
  root: HTMLElement;
  /** Lets effects, timers of 0 ms and renders run. */
  settle(): Promise<void>;
  query<T extends Element = HTMLElement>(selector: string): T;
}

/** Renders into a document of its own, runs the test, and takes everything away again. */
export async function onPage(what: ComponentChild, test: (page: Page) => Promise<void> | void): Promise<void> {
  const window = new Window({ width: 1366, height: 768, url: "http://127.0.0.1:7777/devices" });
  const before = new Map<string, PropertyDescriptor | undefined>();
  for (const name of GLOBALS) {
    before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
    const value: unknown = name === "window" ? globalThis : Reflect.get(window, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  const root: HTMLElement = document.createElement("div");
  document.body.append(root);
  const settle = async () => {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  try {
    render(what, root);
    await settle();
    await test({
      root,
      settle,
      query: <T extends Element>(selector: string) => {
        const found = root.querySelector<T>(selector);
        if (!found) throw new Error(`nothing matches ${selector} in ${root.innerHTML.slice(0, 2000)}`);
        return found;
      },
    });
  } finally {
    render(null, root);
    await settle();
    await window.happyDOM.close();
    for (const [name, held] of before) {
      if (held) Object.defineProperty(globalThis, name, held);
      else Reflect.deleteProperty(globalThis, name);
    }
  }
}
