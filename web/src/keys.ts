// Keys of the page. A view declares its own while it is shown; the help dialog (?) lists what holds now.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Key {
  /** As KeyboardEvent.key: "a", "A" (with shift), "ArrowLeft", "?". */
  key: string;
  /** What it does, for the help: "next hand". */
  does: string;
  run: () => void;
}

const layers = signal<readonly (readonly Key[])[]>([]);

/** All keys that hold now, those of the view first. */
export const keys = () => layers.value.toReversed().flat();

/** Keys that hold as long as the component is shown. */
export function useKeys(own: readonly Key[], deps: readonly unknown[] = []): void {
  useEffect(() => {
    layers.value = [...layers.peek(), own];
    return () => void (layers.value = layers.peek().filter((layer) => layer !== own));
  }, deps as unknown[]);
}

function writing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Whether a key is what presses the element that has the focus. */
function pressing(event: KeyboardEvent): boolean {
  return (event.key === " " || event.key === "Enter") && event.target instanceof HTMLElement && event.target !== document.body;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || writing(event.target) || pressing(event)) return;
  if (document.querySelector("dialog[open]")) return;
  const found = layers.peek().toReversed().flat().find((key) => key.key === event.key);
  if (found) {
    event.preventDefault();
    found.run();
  }
});
