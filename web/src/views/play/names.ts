// Names of opponents.
import type { TableView } from "./types.ts";

const SHORT: Record<string, string> = {
  solution: "the solution",
  uniform: "random play",
  rebel: "ReBeL's network",
  "lbr(against=uniform,actions=fcpa)": "a local best response",
  "rules(style=regular)": "tight and aggressive rules",
  "rules(style=maniac)": "a maniac",
  "rules(style=station)": "calling stations",
  "search(depth=2,iterations=32)": "a search two actions deep",
};

/** An opponent's short name. */
export const shortName = (against: string): string => SHORT[against] ?? (/^[\w-]+\(.*\)$/s.test(against) ? against.split("(")[0]! : against);

/** An opponent by name, with its description. */
export function opponent({ against, about }: TableView): string {
  const name = shortName(against);
  const more = about.replace(/^the solution: /, "");
  return more && more !== against && more !== name ? `${name} (${more})` : name;
}
