// Action frequencies as a stacked bar with a legend.
import { percent } from "./numbers.ts";
import { aggressiveFirst, colours, letters } from "./actions.ts";

export interface Part {
  label: string;
  share: number;
  colour: string;
  letter?: string;
}

/** Parts for the actions of a node, in the order in which cells are filled. */
export function actionParts(kinds: readonly string[], names: readonly string[], shares: ArrayLike<number>): Part[] {
  const [paint, signs] = [colours(kinds), letters(kinds)];
  return aggressiveFirst(kinds).map((a) => ({ label: names[a]!, share: shares[a] ?? 0, colour: paint[a]!, letter: signs[a]! }));
}

/** Frequencies as a bar; with `words`, actions are named in it, and no legend is needed. */
export function Bars({ parts, thin, small, words, label }: { parts: readonly Part[]; thin?: boolean; small?: boolean; words?: boolean; label?: string }) {
  const said = parts.filter((part) => part.share > 0.0005).map((part) => `${part.label} ${percent(part.share)}`).join(", ");
  return (
    <div class={thin ? "bars thin" : "bars"} role="img" aria-label={(label ? label + ": " : "") + (said || "nothing")}>
      {parts.map((part) => (
        <span key={part.label} style={{ width: `${100 * part.share}%`, background: part.colour }}>
          {!thin && part.share >= (small ? 0.42 : 0.12) && <i>{words ? part.label + " " : part.letter ? part.letter + " " : ""}{percent(part.share, words ? 1 : 0)}</i>}
        </span>
      ))}
    </div>
  );
}

export function Swatch({ colour, letter }: { colour: string; letter: string }) {
  return <span class="swatch" style={{ background: colour }} aria-hidden="true">{letter}</span>;
}

export function Legend({ parts }: { parts: readonly Part[] }) {
  return (
    <ul class="legend">
      {parts.map((part) => (
        <li key={part.label}><Swatch colour={part.colour} letter={part.letter ?? ""} />{part.label}</li>
      ))}
    </ul>
  );
}
