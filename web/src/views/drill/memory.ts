// Answers of drills and mistakes to repeat, stored by the browser.
import { signal } from "@preact/signals";

export interface Question {
  file: string;
  over: boolean;
  unit: string;
  line: string;
  player: 0 | 1;
  /** "OOP", "IP", preflop "BB" or "BTN". */
  position: string;
  hand: string;
  hands: [number, number];
  board: string;
  street: string;
  pot: number;
  stacks: [number, number];
  actions: string[];
  kinds: string[];
  lines: string[];
  mix: number[];
  /** EV and EV loss of each action; null if unknown. */
  ev: (number | null)[];
  loss: (number | null)[];
  verdict: Verdict[];
}

export type Verdict = "best" | "mix" | "inaccuracy" | "mistake";

export interface Answer {
  file: string;
  line: string;
  player: 0 | 1;
  hands: [number, number];
  hand: string;
  board: string;
  action: string;
  verdict: Verdict;
  loss: number | null;
  pot: number;
  unit: string;
  /** The frequency of the action in the solution, relative to its most frequent action. */
  share: number;
}

/** A mistake, and how many right answers in a row it still needs. */
export interface Mistake {
  answer: Answer;
  due: number;
}

const MOST_ANSWERS = 1000;
const RIGHT_ANSWERS = 2;

function stored<T>(key: string): T[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(read) ? (read as T[]) : [];
  } catch {
    return [];
  }
}

export const answers = signal<readonly Answer[]>(stored<Answer>("drill-answers"));
export const mistakes = signal<readonly Mistake[]>(stored<Mistake>("drill-mistakes"));

function keep(): void {
  try {
    localStorage.setItem("drill-answers", JSON.stringify(answers.peek()));
    localStorage.setItem("drill-mistakes", JSON.stringify(mistakes.peek()));
  } catch {
    // a full or forbidden storage: the answers last until the page is closed
  }
}

export const answerOf = (question: Question, action: number): Answer => ({
  file: question.file,
  line: question.line,
  player: question.player,
  hands: question.hands,
  hand: question.hand,
  board: question.board,
  action: question.actions[action]!,
  verdict: question.verdict[action]!,
  loss: question.loss[action] ?? null,
  pot: question.pot,
  unit: question.unit,
  share: question.mix[action]! / Math.max(...question.mix),
});

const same = (one: Answer, other: Answer) => one.file === other.file && one.line === other.line && one.hand === other.hand;

/** Mistakes after an answer: a new mistake is due twice, and a right answer takes one off. */
export function after(known: readonly Mistake[], answer: Answer): readonly Mistake[] {
  const others = known.filter((each) => !same(each.answer, answer));
  if (answer.verdict === "mistake") return [...others, { answer, due: RIGHT_ANSWERS }];
  const mistake = known.find((each) => same(each.answer, answer));
  return mistake && mistake.due > 1 ? [...others, { ...mistake, due: mistake.due - 1 }] : others;
}

export function record(answer: Answer): void {
  answers.value = [...answers.peek(), answer].slice(-MOST_ANSWERS);
  mistakes.value = after(mistakes.peek(), answer);
  keep();
}

export function forget(file: string): void {
  answers.value = answers.peek().filter((each) => !belongs(each, file));
  mistakes.value = mistakes.peek().filter((each) => !belongs(each.answer, file));
  keep();
}

/** Whether an answer belongs to a solution, or to one in a folder. */
export const belongs = (answer: Answer, file: string) => answer.file === file || answer.file.startsWith(file + "/");

export interface Score {
  count: number;
  /** EV lost per decision, as a share of the pot, where it is known. */
  loss: number;
  /** Mean frequency of the chosen actions, relative to the most frequent ones. */
  frequency: number;
  right: number;
  streak: number;
}

export function scoreOf(given: readonly Answer[]): Score {
  const mean = (value: (answer: Answer) => number, of = given) => (of.length ? of.reduce((sum, each) => sum + value(each), 0) / of.length : 0);
  const right = (answer: Answer) => answer.verdict === "best" || answer.verdict === "mix";
  const wrong = given.findLastIndex((each) => !right(each));
  return {
    count: given.length,
    loss: mean((each) => each.loss! / each.pot, given.filter((each) => each.loss !== null)),
    frequency: mean((each) => each.share),
    right: mean((each) => (right(each) ? 1 : 0)),
    streak: given.length - 1 - wrong,
  };
}
