// Steps of betting lines in words.
import { amount } from "../../look/numbers.ts";

const CARDS = /^([2-9TJQKA][cdhs])+$/;
export const isCards = (step: string): boolean => CARDS.test(step);

const KINDS: Record<string, string> = { x: "check", c: "call", f: "fold", b: "bet", r: "raise", a: "allin" };
export const kindOf = (step: string): string => KINDS[step[0] ?? ""] ?? "bet";

/** "b120" is "Bet 120", in big blinds "Bet 120 bb". */
export function stepName(step: string, unit = "chips"): string {
  const kind = kindOf(step);
  const word = kind === "allin" ? "All-in" : kind[0]!.toUpperCase() + kind.slice(1);
  return word + (kind === "bet" || kind === "raise" ? " " + step.slice(1) + (unit === "chips" ? "" : " " + unit) : "");
}

/** An action of the server in words: "bet 4.13 bb", "all-in 97.5 bb". */
export const actionName = (name: string, unit: string): string => {
  const [word, size] = name.replace("allin", "all-in").split(" ");
  return size ? `${word} ${amount(Number(size), unit === "chips" ? "" : unit)}` : word!;
};

/** The step of a raise to an amount in big blinds, in a line in chips; other texts such as "3x" stay. */
export const raiseTo = (text: string, bigBlind: number): string => {
  const typed = text.trim().replace(/ *bb$/, "");
  return "r" + (Number.isFinite(Number(typed)) ? Number((Number(typed) * bigBlind).toPrecision(12)) : typed);
};

export const joined = (line: string, step: string): string => (line ? `${line},${step}` : step);
export const parent = (line: string): string => line.split(",").slice(0, -1).join(",");

/** A line for people: "check, bet 50, call, 7♠"; "the start" without steps. */
export const said = (line: string, unit = "chips"): string => (line ? line.split(",").map((step) => (isCards(step) ? step : stepName(step, unit).toLowerCase())).join(", ") : "the start");

/** Where a line leads, for people: "after check, bet 50", or "first to act" without steps. */
export const reached = (line: string, unit = "chips"): string => (line ? `after ${said(line, unit)}` : "first to act");
