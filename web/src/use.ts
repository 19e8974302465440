// Hooks that views share.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Refused } from "./api.ts";

export interface Loaded<T> {
  /** The latest data, kept while the next request runs to avoid flicker. */
  data: T | null;
  error: string | null;
  loading: boolean;
  /** The `deps` that data or error belong to. */
  of: readonly unknown[] | null;
  again: () => void;
}

/** Request data whenever `deps` change; late responses are discarded. `null` requests nothing. */
export function useLoaded<T>(ask: ((signal: AbortSignal) => Promise<T>) | null, deps: readonly unknown[]): Loaded<T> {
  const state = useSignal<Omit<Loaded<T>, "again">>({ data: null, error: null, loading: ask !== null, of: null });
  const turn = useSignal(0);
  useEffect(() => {
    if (!ask) return;
    const stop = new AbortController();
    state.value = { ...state.peek(), loading: true };
    ask(stop.signal).then(
      (data) => stop.signal.aborted || (state.value = { data, error: null, loading: false, of: deps }),
      (error: unknown) => stop.signal.aborted || (state.value = { data: state.peek().data, error: message(error), loading: false, of: deps }),
    );
    return () => stop.abort();
  }, [...deps, turn.value]);
  return { ...state.value, again: () => void turn.value++ };
}

/** Data that is requested again every `milliseconds` while `more` holds of them, and on `again`. */
export function usePolled<T>(ask: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[], more: (data: T) => boolean, milliseconds: number): Loaded<T> {
  const loaded = useLoaded(ask, deps);
  const running = loaded.data !== null && more(loaded.data);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(loaded.again, milliseconds);
    return () => clearInterval(timer);
  }, [running]);
  return loaded;
}

/** A value once it has rested for some milliseconds; for requests while somebody types or paints. */
export function useRested<T>(value: T, milliseconds = 250): T {
  const rested = useSignal(value);
  useEffect(() => {
    const timer = setTimeout(() => (rested.value = value), milliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return rested.value;
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Treeplex` : "Treeplex";
  }, [title]);
}

/** An error's message. */
export function message(error: unknown): string {
  return error instanceof Refused || error instanceof Error ? error.message : String(error);
}
