// The opponents' strategy at each of their decisions, for every hand of their ranges.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Panel, Select } from "../../look/basics.tsx";
import { Hand } from "../../look/Cards.tsx";
import { CLASSES, classOf, combinations } from "../../look/deck.ts";
import { Grid13, type Cell } from "../../look/Grid13.tsx";
import { count, duration, percent } from "../../look/numbers.ts";
import { kindOf, plainName } from "./After.tsx";
import type { HandDone, Thought } from "./types.ts";

const isHand = (name: string) => /^([2-9TJQKA][shdc]){1,2}$/.test(name);
const LEAST_HEIGHT = 0.06;

export function Thoughts({ hand }: { hand: HandDone }) {
  const { thoughts } = hand;
  const chosen = useSignal(String(Math.max(thoughts.length - 1, 0)));
  const thought = thoughts[Number(chosen.value)];
  if (!thought) return null;
  const name = (each: Thought) => hand.scene.seats[each.seat]!.name;
  const title = (each: Thought) => [each.where, name(each), plainName(each.options[each.chosen]!).toLowerCase()].filter(Boolean).join(", ");
  return (
    <Panel
      title={`Decisions of ${name(thought)}`}
      tools={thoughts.length > 1 && <Select quiet label="Decision" value={chosen.value} options={thoughts.map((each, place) => ({ value: String(place), label: `${place + 1}: ${title(each)}` }))} onChange={(value) => (chosen.value = value)} />}
    >
      <Strategy key={chosen.value} of={thought} />
    </Panel>
  );
}

function Strategy({ of }: { of: Thought }) {
  const kinds = of.options.map(kindOf);
  const names = of.options.map(plainName);
  const parts = (shares: readonly number[]) => actionParts(kinds, names, shares);
  const held = isHand(of.held) ? <Hand hand={of.held} /> : of.held;
  const classes = of.hands.length > 0 && of.hands.every((each) => CLASSES.includes(each.name));
  return (
    <div class="stack tight">
      <p class="small">
        It {of.search ? `searched (${count(of.search.iterations)} iterations, ${duration(of.search.seconds)}) and ` : ""}chose <b>{names[of.chosen]!.toLowerCase()}</b>, which it plays {percent(of.policy[of.chosen], 0)} of the time with <b>{held}</b> and {percent(of.mean[of.chosen], 0)} of the time with its whole range.
      </p>
      <Bars label={`With ${of.held}`} parts={parts(of.policy)} />
      <Legend parts={parts(of.policy)} />
      <h3>Its range and strategy</h3>
      {classes ? <Classes of={of} /> : (
        <ul class="shares">
          {of.hands.map((each) => (
            <li key={each.name} class={each.name === of.held ? "held" : ""}>
              <span>{isHand(each.name) ? <Hand hand={each.name} /> : each.name}</span>
              <Bars thin label={`${each.name}, ${percent(each.share)} of its range`} parts={parts(each.policy)} />
              <span class="number">{percent(each.share)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A range of hold'em on the grid, each cell as high as its hands are likely. */
function Classes({ of }: { of: Thought }) {
  const pointed = useSignal<number | null>(null);
  const cells = useMemo(() => {
    const parts = actionParts(of.options.map(kindOf), of.options.map(plainName), of.mean);
    const order = parts.map((part) => of.options.findIndex((option) => plainName(option) === part.label));
    const known = new Map(of.hands.map((each) => [each.name, each]));
    const dense = CLASSES.map((name) => (known.get(name)?.share ?? 0) / combinations(name));
    const most = Math.max(...dense, 1e-12);
    return CLASSES.map((name, place): Cell => {
      const each = known.get(name);
      if (!each) return { height: 0, parts: [] };
      return {
        height: Math.max(dense[place]! / most, LEAST_HEIGHT),
        parts: order.map((option, part) => [parts[part]!.colour, each.policy[option]!] as const),
        said: `${percent(each.share)} of its range, ${order.filter((option) => each.policy[option]! > 0.005).map((option) => `${plainName(of.options[option]!)} ${percent(each.policy[option], 0)}`).join(", ")}`,
      };
    });
  }, [of]);
  const held = of.held.length === 4 ? classOf(of.held) : null;
  const shown = pointed.value ?? held;
  return (
    <>
      <div class="thought-grid"><Grid13 label="How it plays each class" cells={cells} chosen={held} onPoint={(place) => (pointed.value = place)} /></div>
      <p class="soft small">{shown !== null && `${CLASSES[shown]}: ${cells[shown]!.said ?? "not in its range"}`}</p>
    </>
  );
}
