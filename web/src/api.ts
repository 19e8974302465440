// Typed access to the server. Small data is JSON; a node is arrays of numbers after a JSON header.
import { signal } from "@preact/signals";

export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly field: string | null = null,
  ) {
    super(message);
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;

/** The address of a request: address("solution/node", { file, line }). */
export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([key, value]) => (value == null ? [] : [[key, String(value)]]));
  const text = new URLSearchParams(given).toString();
  return `./api/${path}${text ? "?" + text : ""}`;
}

async function answer(request: Promise<Response>): Promise<Response> {
  let response: Response;
  try {
    response = await request;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(0, "The server does not respond. Is `treeplex web` still running?");
  }
  if (response.ok) return response;
  const said = (await response.json().catch(() => null)) as { error?: string; field?: string | null } | null;
  throw new Refused(response.status, said?.error ?? `The server answered ${response.status}.`, said?.field);
}

async function json<T>(request: Promise<Response>): Promise<T> {
  return (await (await answer(request)).json()) as T;
}

export const get = <T>(path: string, query: Query = {}, signal?: AbortSignal) => json<T>(fetch(address(path, query), { signal: signal ?? null }));

export const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal) =>
  json<T>(
    fetch(address(path), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: signal ?? null,
    }),
  );

export const remove = <T>(path: string, query: Query = {}) =>
  json<T>(fetch(address(path, query), { method: "DELETE", headers: { "Content-Type": "application/json" } }));

/** Send the bytes of a file; the answer names it in the folder. */
export const upload = (file: File) =>
  json<{ file: string }>(
    fetch(address("upload", { name: file.name }), { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file }),
  );

export interface Arrays<Head> {
  head: Head;
  /** The numbers of an array by its name, flattened; empty where there is none. */
  array: (name: string) => Float32Array;
}

interface ArrayPlace {
  name: string;
  shape: number[];
  offset: number;
}

/** Arrays behind a JSON head: uint32 n, n bytes of JSON, then float32, all little-endian. */
export async function arrays<Head>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Arrays<Head>> {
  const response = await answer(fetch(address(path, query), { signal: signal ?? null }));
  return readArrays<Head>(await response.arrayBuffer());
}

export function readArrays<Head>(buffer: ArrayBuffer): Arrays<Head> {
  const size = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size))) as Head & { arrays: ArrayPlace[] };
  const found = new Map(
    head.arrays.map(({ name, shape, offset }) => [
      name,
      new Float32Array(buffer, 4 + size + 4 * offset, shape.reduce((product, each) => product * each, 1)),
    ]),
  );
  const none = new Float32Array();
  return { head, array: (name) => found.get(name) ?? none };
}

type Listener = (data: never) => void;
let stream: EventSource | null = null;

/** Whether the event stream is connected; the browser reconnects automatically. */
export const connected = signal(true);

const listeners = new Map<string, Set<Listener>>();

function open(): EventSource {
  const opened = new EventSource("./api/events");
  opened.onopen = () => (connected.value = true);
  opened.onerror = () => (connected.value = false);
  return opened;
}

/** Listen to events of a name ("job", "record", ...) on the page's stream; returns a function that stops. */
export function listen<T>(name: string, hear: (data: T) => void): () => void {
  stream ??= open();
  const heard = listeners.get(name) ?? new Set();
  if (!listeners.has(name)) {
    listeners.set(name, heard);
    stream.addEventListener(name, (event) => {
      const data = JSON.parse((event as MessageEvent<string>).data) as never;
      for (const each of heard) each(data);
    });
  }
  heard.add(hear as Listener);
  return () => void heard.delete(hear as Listener);
}
