// Where the page stands: the part of the address behind "#", as a signal. Links are plain "#/..." anchors, so that every view can be
// reopened, shared and gone back to.
import { computed, signal } from "@preact/signals";

export interface Place {
  /** Parts of the path, decoded: "#/solution/runs%2Fa.spot" is ["solution", "runs/a.spot"]. */
  path: readonly string[];
  query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

export const place = computed<Place>(() => {
  const text = hash.value.replace(/^#\/?/, "");
  const [path = "", query = ""] = text.split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
});

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** An address within the page: link(["solution", "a.spot"], { node: "x" }). Empty values are left out. */
export function link(path: readonly string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const text = new URLSearchParams(given).toString();
  return "#/" + path.map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}

/** Go to an address; `replace` keeps it out of the history, for steps not worth going back to. */
export function go(address: string, replace = false): void {
  if (replace) history.replaceState(null, "", address);
  else location.hash = address;
  hash.value = location.hash;
}

/** Change entries of the query of the present place; undefined or "" removes one. */
export function ask(changes: Record<string, string | undefined>, replace = true): void {
  const { path, query } = place.peek();
  go(link(path, { ...Object.fromEntries(query), ...changes }), replace);
}
