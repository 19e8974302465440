// Review of a hand: each decision against its alternatives, and the opponents' ranges.
import { Bars, actionParts } from "../../look/Bars.tsx";
import { Panel } from "../../look/basics.tsx";
import { Hand } from "../../look/Cards.tsx";
import { percent, signed } from "../../look/numbers.ts";
import { colours, letters } from "../../look/actions.ts";
import { CLASSES, combinations } from "../../look/deck.ts";
import { ramp } from "../../look/actions.ts";
import type { Decided, HandDone } from "./types.ts";

export const BY: Record<string, string> = {
  solution: "by the solution",
  agent: "by the agent's search",
  resolver: "by preflop charts and resolver's solves",
  estimate: "by a rough estimate: the opponent responds with its policy, then all players check and call",
  chart: "by the preflop chart",
};

/** The kind of an action by its name, for its colour. */
export function kindOf(name: string): string {
  const word = name.toLowerCase().replace("-", "").split(" ")[0] ?? "";
  return word === "pass" ? "check" : ["fold", "check", "call", "bet", "raise", "allin"].includes(word) ? word : "bet";
}

const WORDS = { best: "Best", mixed: "Part of the mix", mistake: "Mistake", unknown: "Not judged" } as const;
/** An estimate cannot tell which action is best; it only finds losses. */
const BY_ESTIMATE = { ...WORDS, best: "No loss found", mistake: "Loses by the estimate" } as const;
const BY_CHART = { ...WORDS, mistake: "Rare in the chart" } as const;

/** Lost value in big blinds where the game has them, else in the game's units. */
export function amount(value: number | null, bigBlind: number | null): string {
  if (value == null) return "–";
  return bigBlind ? `${(value / bigBlind).toFixed(2)} bb` : value.toFixed(3).replace(/\.?0+$/, "");
}

/** An action without what OpenSpiel's names repeat: "[P0]Bid: 3" is "Bid: 3". */
export const plainName = (name: string) => name.replace(/^\[P\d\]/, "");

export function Verdict({ decided, bigBlind }: { decided: Decided; bigBlind: number | null }) {
  const best = decided.values.reduce<number>((found, value, place) => (value != null && value > (decided.values[found] ?? -Infinity) ? place : found), decided.chosen);
  return (
    <p class={`verdict ${decided.verdict}`} role="status">
      <b>{(decided.by === "estimate" ? BY_ESTIMATE : decided.by === "chart" ? BY_CHART : WORDS)[decided.verdict]}</b>
      <span>
        {plainName(decided.options[decided.chosen]!)}
        {decided.by === "chart" && `, played ${percent(decided.policy[decided.chosen], 0)} of the time`}
        {decided.by !== "chart" && decided.verdict === "mistake" && ` costs ${amount(decided.lost, bigBlind)}; better: ${plainName(decided.options[best]!)}`}
        {decided.by !== "chart" && decided.verdict === "mixed" && decided.policy.length > 0 && `, played ${percent(decided.policy[decided.chosen], 0)} of the time`}
      </span>
      <span class="soft small">{decided.verdict === "unknown" ? "there was too little time to solve the street; review the hand to solve it" : BY[decided.by]}</span>
    </p>
  );
}

export function Decisions({ of, bigBlind }: { of: readonly Decided[]; bigBlind: number | null }) {
  if (!of.length) return <p class="soft">Not judged: no agent here can evaluate these decisions.</p>;
  return (
    <ol class="decisions">
      {of.map((decided, place) => {
        const kinds = decided.options.map(kindOf);
        const [paint, signs] = [colours(kinds), letters(kinds)];
        const shown = decided.options.map((_, option) => option).filter((option) => decided.options.length <= 10 || option === decided.chosen || decided.values[option] != null);
        return (
          <li key={place}>
            <Verdict decided={decided} bigBlind={bigBlind} />
            {decided.policy.length > 0 && <Bars label="how the solution plays" parts={actionParts(kinds, decided.options, decided.policy)} />}
            {decided.values.some((value) => value != null) && <div class="table-frame" tabIndex={0} role="region" aria-label={`Action values, decision ${place + 1}`}>
              <table class="table">
                <thead>
                  <tr><th scope="col">{decided.where || "Action"}</th><th scope="col" class="number">{bigBlind ? "EV, bb" : "Value"}</th><th scope="col" class="number">Cost</th><th scope="col" class="number">Played</th></tr>
                </thead>
                <tbody>
                  {shown.map((option) => {
                    const value = decided.values[option];
                    const most = Math.max(...decided.values.filter((each): each is number => each != null));
                    return (
                      <tr key={option} class={option === decided.chosen ? "chosen" : ""}>
                        <td>
                          <span class="swatch" style={{ background: paint[option] }} aria-hidden="true">{signs[option]}</span> {plainName(decided.options[option]!)}
                          {option === decided.chosen && <span class="soft small"> (yours)</span>}
                        </td>
                        <td class="number">{value == null ? "–" : signed(bigBlind ? value / bigBlind : value)}</td>
                        <td class="number">{value == null ? "–" : amount(most - value, bigBlind)}</td>
                        <td class="number">{decided.policy.length ? percent(decided.policy[option], 0) : "–"}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </div>}
          </li>
        );
      })}
    </ol>
  );
}

export function Ranges({ hand }: { hand: HandDone }) {
  return (
    <>
      {hand.ranges.map((range) => (
        <Panel key={range.seat} title={`Range of ${hand.scene.seats[range.seat]!.name}`}>
          <p class="small soft">
            Given how it plays every hand. It held <b>{/^([2-9TJQKA][shdc])+$/.test(range.held) ? <Hand hand={range.held} /> : range.held}</b>
            {" "}({percent(range.held_share, range.held_share < 0.01 ? 2 : 1)}).
          </p>
          {range.hands.every((each) => CLASSES.includes(each.name)) ? <ClassGrid hands={range.hands} /> : <Shares hands={range.hands} held={range.held} />}
        </Panel>
      ))}
    </>
  );
}

function Shares({ hands, held }: { hands: readonly { name: string; share: number }[]; held: string }) {
  const most = Math.max(...hands.map((each) => each.share), 1e-9);
  return (
    <ul class="shares">
      {hands.map((each) => (
        <li key={each.name} class={each.name === held ? "held" : ""}>
          <span>{/^([2-9TJQKA][shdc])+$/.test(each.name) ? <Hand hand={each.name} /> : each.name}</span>
          <span class="track"><i style={{ width: `${(100 * each.share) / most}%` }} /></span>
          <span class="number">{percent(each.share)}</span>
        </li>
      ))}
    </ul>
  );
}

/** A range of hold'em on the grid of classes, darker where more likely. */
function ClassGrid({ hands }: { hands: readonly { name: string; share: number }[] }) {
  const shares = new Float64Array(169);
  for (const each of hands) shares[CLASSES.indexOf(each.name)] = each.share;
  const dense = [...shares].map((share, place) => share / combinations(CLASSES[place]!));
  const most = Math.max(...dense, 1e-12);
  return (
    <div class="classes" role="img" aria-label={"Most likely: " + hands.slice(0, 6).map((each) => `${each.name} ${percent(each.share)}`).join(", ")}>
      {CLASSES.map((name, place) => (
        <span key={name} title={`${name}: ${percent(shares[place])}`} style={dense[place]! > 0 ? { background: ramp(dense[place]! / most) } : undefined} class={dense[place]! > 0 ? "some" : ""}>{name}</span>
      ))}
    </div>
  );
}
