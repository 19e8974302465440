// A range: painted on the grid, written as text, or taken from presets; both ways at once.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { get, post, remove } from "../../api.ts";
import { Button, Field, Select, tried } from "../../look/basics.tsx";
import { CLASSES, SUIT_SIGNS } from "../../look/deck.ts";
import { Grid13 } from "../../look/Grid13.tsx";
import { useRested } from "../../use.ts";
import { percent } from "../../look/numbers.ts";
import { blocked, CLASS_HANDS, combos, HANDS, rangeCells, withWeight, type Weights } from "./range.ts";

interface Read {
  text: string;
  weights: number[];
}

export interface Preset {
  name: string;
  text: string;
  own: boolean;
}

const BRUSHES = [1, 0.75, 0.5, 0.25, 0] as const;

export function RangeEditor({ name, text, onText, board, paint, error }: { name: string; text: string; onText: (text: string) => void; board: readonly number[]; paint: string; error?: string | undefined }) {
  const weights = useSignal<Weights>(new Float64Array(1326));
  const wrong = useSignal<string | null>(null);
  const brush = useSignal(1);
  const stroke = useSignal(1);
  const pointed = useSignal<number | null>(null);
  const chosen = useSignal<number | null>(null);
  /** The text that belongs to the weights; when it is the one given, nothing needs reading. */
  const known = useRef<string | null>(null);
  const rested = useRested(text, known.current === null ? 0 : 200);
  const wanted = text.trim() ? rested : "";
  const reading = useRef<AbortController | null>(null);

  useEffect(() => {
    if (wanted === known.current) return;
    if (!wanted) {
      known.current = "";
      weights.value = new Float64Array(1326);
      wrong.value = null;
      return;
    }
    const stop = new AbortController();
    reading.current = stop;
    post<Read>("spots/range", { text: wanted }, stop.signal).then(
      (read) => {
        if (stop.signal.aborted) return;
        known.current = wanted;
        weights.value = Float64Array.from(read.weights);
        wrong.value = null;
      },
      (refusal: Error) => stop.signal.aborted || (wrong.value = refusal.message),
    );
    return () => stop.abort();
  }, [wanted]);

  const write = async () => {
    const painted = weights.peek();
    const read = await tried(post<Read>("spots/range", { weights: Array.from(painted) }));
    if (!read || painted !== weights.peek()) return;
    known.current = read.text;
    wrong.value = null;
    onText(read.text);
  };
  const set = (hands: readonly number[], weight: number) => (weights.value = withWeight(weights.peek(), hands, weight));
  const paintCell = (place: number, first: boolean) => {
    reading.current?.abort();
    const hands = CLASS_HANDS[place]!.filter((hand) => !blocked(hand, board));
    if (first) stroke.value = hands.every((hand) => Math.abs(weights.peek()[hand]! - brush.peek()) < 1e-9) ? 0 : brush.peek();
    set(hands, stroke.peek());
    chosen.value = place;
  };
  const cells = useMemo(() => rangeCells(weights.value, board, paint), [weights.value, board, paint]);
  const size = combos(weights.value, board);
  const shown = pointed.value ?? chosen.value;
  return (
    <div class="stack range-editor">
      <div class="row spread">
        <span><b>{size.toFixed(size % 1 ? 1 : 0)}</b> combos <span class="soft">{percent(size / 1326)}</span></span>
        <Presets text={text} onText={onText} />
      </div>
      <Grid13 label={`Range of ${name}; Enter paints`} cells={cells} chosen={chosen.value} onPaint={paintCell} onPaintEnd={write} onPoint={(place) => (pointed.value = place)} />
      <div class="row tight">
        <span class="soft small">Brush</span>
        {BRUSHES.map((each) => (
          <Button key={each} small pressed={brush.value === each} onClick={() => (brush.value = each)}>{each ? percent(each, 0) : "erase"}</Button>
        ))}
        <label class="grow row tight">
          <span class="hidden">Weight of the brush in percent</span>
          <input type="range" min={0} max={100} value={100 * brush.value} class="grow" onInput={(event) => (brush.value = Number(event.currentTarget.value) / 100)} />
          <span class="small number brush">{percent(brush.value, 0)}</span>
        </label>
        <Button small onClick={() => onText("all")}>All</Button>
        <Button small onClick={() => onText("")}>Clear</Button>
      </div>
      <Suits place={shown} weights={weights.value} board={board} onPaint={(hand) => {
        set([hand], Math.abs(weights.peek()[hand]! - brush.peek()) < 1e-9 ? 0 : brush.peek());
        void write();
      }} />
      <Field label={`${name} as text`} rows={3} value={text} onInput={onText} error={wrong.value ?? error} hint="QQ+, AJs+, A5s-A2s, KQo:0.5, AsKd, top 15%; text of other solvers works too" />
    </div>
  );
}

/** The single hands of the class last pointed at, each to be painted. */
function Suits({ place, weights, board, onPaint }: { place: number | null; weights: Weights; board: readonly number[]; onPaint: (hand: number) => void }) {
  if (place === null) return <p class="soft small suits">Point at a class to paint single suits. Drag to paint; a painted class is erased.</p>;
  return (
    <div class="suits row tight" role="group" aria-label={`Suits of ${CLASSES[place]}`}>
      {CLASS_HANDS[place]!.map((hand) => {
        const text = HANDS[hand]!;
        return (
          <button key={hand} type="button" class="suit-pair" disabled={blocked(hand, board)} aria-pressed={weights[hand]! > 0} aria-label={`${text}, ${percent(weights[hand], 0)}`} onClick={() => onPaint(hand)}>
            <span class={text[1]}>{text[0]}{SUIT_SIGNS[text[1]!]}</span>
            <span class={text[3]}>{text[2]}{SUIT_SIGNS[text[3]!]}</span>
            {weights[hand]! > 0 && weights[hand]! < 1 && <small>{Math.round(100 * weights[hand]!)}</small>}
          </button>
        );
      })}
    </div>
  );
}

function Presets({ text, onText }: { text: string; onText: (text: string) => void }) {
  const presets = useSignal<readonly Preset[]>([]);
  const naming = useSignal<string | null>(null);
  useEffect(() => void get<{ presets: Preset[] }>("presets").then((data) => (presets.value = data.presets), () => undefined), []);
  const save = async () => {
    const name = naming.peek()?.trim();
    if (!name) return;
    const data = await tried(post<{ presets: Preset[] }>("presets", { name, text }));
    if (data) {
      presets.value = data.presets;
      naming.value = null;
    }
  };
  const current = presets.value.find((preset) => preset.text === text);
  const drop = async () => {
    const data = current && (await tried(remove<{ presets: Preset[] }>("presets", { name: current.name })));
    if (data) presets.value = data.presets;
  };
  if (naming.value !== null) {
    return (
      <form class="row tight" onSubmit={(event) => (event.preventDefault(), void save())}>
        <input type="text" aria-label="Name of the preset" placeholder="name" value={naming.value} class="preset-name" onInput={(event) => (naming.value = event.currentTarget.value)} />
        <Button small submit kind="primary">Save</Button>
        <Button small onClick={() => (naming.value = null)}>Cancel</Button>
      </form>
    );
  }
  return (
    <div class="row tight">
      <Select
        label="Preset"
        quiet
        value={current?.name ?? ""}
        options={[{ value: "", label: "Presets…" }, ...presets.value.map((preset) => ({ value: preset.name, label: preset.name }))]}
        onChange={(name) => {
          const preset = presets.peek().find((each) => each.name === name);
          if (preset) onText(preset.text);
        }}
      />
      {current?.own ? <Button small onClick={() => void drop()}>Delete</Button> : <Button small disabled={!text} onClick={() => (naming.value = "")}>Save as…</Button>}
    </div>
  );
}
