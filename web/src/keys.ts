// Keyboard shortcuts. A view registers its own while it is shown; the help dialog (?) lists the current ones.
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export interface Key {
  /** As KeyboardEvent.key: "a", "A" (with shift), "ArrowLeft", "?". */
  key: string;
  /** What it does, for the help: "next hand". */
  does: string;
  run: () => void;
}

interface Layer {
  keys: readonly Key[];
  /** Whether the view is ready for its keys; until then they are queued. */
  ready: () => boolean;
}

const layers = signal<readonly Layer[]>([]);
const HELD_MILLISECONDS = 10_000;
/** Keys pressed before the view was ready for them, oldest first. */
let held: { key: string; at: number }[] = [];
addEventListener("hashchange", (event) => viewOf(event.oldURL) === viewOf(event.newURL) || (held = []));

const viewOf = (address: string) => address.split("#")[1]?.split("?")[0];

/** All current keys, those of the view first. */
export const keys = () => layers.value.toReversed().flatMap((layer) => layer.keys);

/** Register keys while the component is shown; keys pressed before `ready` run once it is. */
export function useKeys(own: readonly Key[], deps: readonly unknown[] = [], ready: () => boolean = () => true): void {
  useLayoutEffect(() => {
    const layer = { keys: own, ready };
    layers.value = [...layers.peek(), layer];
    queueMicrotask(release); // after all layers of the view are registered
    return () => void (layers.value = layers.peek().filter((each) => each !== layer));
  }, deps as unknown[]);
}

/** Queue all keys until a view exists. */
export const useHeldKeys = (until: boolean): void => useKeys([], [until], () => until);

/** Run a key's action; false if a view is not ready yet. */
function press(name: string): boolean {
  for (const { keys, ready } of layers.peek().toReversed()) {
    const found = keys.find((key) => key.key === name);
    if (!ready() && (found || !keys.length)) return false;
    if (found) {
      found.run();
      return true;
    }
  }
  return true;
}

function release(): void {
  held = held.filter(({ at }) => performance.now() - at < HELD_MILLISECONDS);
  while (held.length && press(held[0]!.key)) held.shift();
}

function writing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Whether a key activates the focused element. */
function pressing(event: KeyboardEvent): boolean {
  return (event.key === " " || event.key === "Enter") && event.target instanceof HTMLElement && event.target !== document.body;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || writing(event.target) || pressing(event)) return;
  if (document.querySelector("dialog[open]")) return;
  const known = layers.peek().some(({ keys }) => keys.some((key) => key.key === event.key));
  if (known) event.preventDefault();
  held.push({ key: event.key, at: performance.now() });
  release();
});
