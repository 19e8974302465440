// Range editor: painted on the grid, written as text, or chosen from presets; grid and text stay in sync.
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { get, post, remove } from "../../api.ts";
import { Button, Field, Select, tried } from "../../look/basics.tsx";
import { CLASSES, SUIT_SIGNS } from "../../look/deck.ts";
import { Grid13 } from "../../look/Grid13.tsx";
import { percent } from "../../look/numbers.ts";
import { blocked, CLASS_HANDS, combos, HANDS, rangeCells, withWeight, type Weights } from "./range.ts";

interface Read {
  text: string;
  /** How an ambiguous text was read; empty if there is only one way. */
  note: string;
  weights: number[];
}

export interface Preset {
  name: string;
  text: string;
  own: boolean;
}

/** Hands, and the weight to paint them with. */
type Stroke = [readonly number[], number];

const BRUSHES = [1, 0.75, 0.5, 0.25, 0] as const;

export function RangeEditor({ name, text, onText, board, paint, error }: { name: string; text: string; onText: (text: string) => void; board: readonly number[]; paint: string; error?: string | undefined }) {
  const weights = useSignal<Weights>(new Float64Array(1326));
  const wrong = useSignal<string | null>(null);
  const note = useSignal("");
  const brush = useSignal(1);
  const stroke = useSignal(1);
  const pointed = useSignal<number | null>(null);
  const chosen = useSignal<number | null>(null);
  /** The text of the weights, or of those being parsed; if it equals the given text, no parsing is needed. */
  const known = useRef<string | null>(null);
  /** Strokes painted while a text is being parsed, to be reapplied to it; null otherwise. */
  const meanwhile = useRef<Stroke[] | null>(null);
  /** Number of texts set from outside; strokes painted before one of them are dropped. */
  const texts = useRef(0);

  useLayoutEffect(() => {
    if (text === known.current) return;
    texts.current += 1;
    const rest = known.current === null ? 0 : 200;
    known.current = text;
    note.value = "";
    const arrived = (read: Weights | null, refusal: string | null) => {
      const strokes = meanwhile.current ?? [];
      meanwhile.current = null;
      weights.value = strokes.reduce((under, stroke) => withWeight(under, ...stroke), read ?? weights.peek());
      wrong.value = refusal;
      if (read && strokes.length) void write();
    };
    meanwhile.current = null;
    if (!text.trim()) return arrived(new Float64Array(1326), null);
    meanwhile.current = [];
    const stop = new AbortController();
    const timer = setTimeout(() => {
      post<Read>("spots/range", { text }, stop.signal).then(
        (read) => {
          if (stop.signal.aborted) return;
          note.value = read.note;
          arrived(Float64Array.from(read.weights), null);
        },
        (refusal: Error) => stop.signal.aborted || arrived(null, refusal.message),
      );
    }, rest);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);

  const write = async () => {
    if (meanwhile.current) return;
    const [painted, under] = [weights.peek(), texts.current];
    const read = await tried(post<Read>("spots/range", { weights: Array.from(painted) }));
    if (!read || painted !== weights.peek() || under !== texts.current) return;
    known.current = read.text;
    wrong.value = null;
    onText(read.text);
  };
  const set = (...stroke: Stroke) => {
    meanwhile.current?.push(stroke);
    weights.value = withWeight(weights.peek(), ...stroke);
  };
  const paintCell = (place: number, first: boolean) => {
    const hands = CLASS_HANDS[place]!.filter((hand) => !blocked(hand, board));
    if (first) stroke.value = hands.every((hand) => Math.abs(weights.peek()[hand]! - brush.peek()) < 1e-9) ? 0 : brush.peek();
    set(hands, stroke.peek());
    chosen.value = place;
  };
  const cells = useMemo(() => rangeCells(weights.value, board, paint), [weights.value, board, paint]);
  const size = combos(weights.value, board);
  const shown = pointed.value ?? chosen.value;
  const top = /^top (\d+)%$/.test(text) ? Number(text.slice(4, -1)) : null;
  return (
    <div class="stack range-editor">
      <div class="row spread">
        <span><b>{size.toFixed(size % 1 ? 1 : 0)}</b> combos <span class="soft">{percent(size / 1326)}</span></span>
        <Presets text={text} onText={onText} />
      </div>
      <Grid13 label={`Range of ${name}; press Enter to paint`} cells={cells} chosen={chosen.value} onPaint={paintCell} onPaintEnd={write} onPoint={(place) => (pointed.value = place)} />
      <div class="row tight">
        <span class="soft small">Brush</span>
        {BRUSHES.map((each) => (
          <Button key={each} small pressed={brush.value === each} onClick={() => (brush.value = each)}>{each ? percent(each, 0) : "erase"}</Button>
        ))}
        <label class="row tight brush-weight">
          <span class="hidden">Brush weight in percent</span>
          <input type="range" min={0} max={100} value={100 * brush.value} class="grow" onInput={(event) => (brush.value = Number(event.currentTarget.value) / 100)} />
          <span class="small number brush">{percent(brush.value, 0)}</span>
        </label>
        <Button small onClick={() => onText("all")}>All</Button>
        <Button small onClick={() => onText("")}>Clear</Button>
      </div>
      <label class="row tight">
        <span class="soft small">Best hands</span>
        <input type="range" min={0} max={100} step={1} value={top ?? Math.round(size / 13.26)} class="grow" aria-label="The best hands, in percent of all" onInput={(event) => onText(Number(event.currentTarget.value) ? `top ${event.currentTarget.value}%` : "")} />
        <span class="small number brush">{top === null ? percent(size / 1326, 0) : `top ${top}%`}</span>
      </label>
      <Suits place={shown} weights={weights.value} board={board} onPaint={(hand) => {
        set([hand], Math.abs(weights.peek()[hand]! - brush.peek()) < 1e-9 ? 0 : brush.peek());
        void write();
      }} />
      <Field label={`${name} as text`} rows={3} value={text} onInput={onText} error={wrong.value ?? error} hint={note.value || "QQ+, AJs+, A5s-A2s, KQo:0.5, AsKd, top 15%; ranges from PioSolver, GTO+ and GTO Wizard also work"} />
    </div>
  );
}

/** The combos of the last hand class pointed at, for painting one by one. */
function Suits({ place, weights, board, onPaint }: { place: number | null; weights: Weights; board: readonly number[]; onPaint: (hand: number) => void }) {
  if (place === null) return <p class="soft small suits">Point at a hand class to paint single combos. Drag to paint; painting a painted class erases it.</p>;
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
