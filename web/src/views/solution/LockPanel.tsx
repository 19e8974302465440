// Node locking: paint a player's strategy with each hand, then re-solve everything else.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Button, Check, Field, Notice, Panel, tried } from "../../look/basics.tsx";
import { actionParts, Bars, Swatch } from "../../look/Bars.tsx";
import { colours, letters } from "../../look/actions.ts";
import { Grid13 } from "../../look/Grid13.tsx";
import { percent } from "../../look/numbers.ts";
import { go, link } from "../../router.ts";
import { HAND_CLASSES } from "../spots/range.ts";
import { begin } from "../spots/jobs.ts";
import { strategyCells } from "./cells.ts";
import { byClass, PLAYERS, together, type Node, type Side } from "./node.ts";
import { reached } from "./words.ts";

export function LockPanel({ file, node }: { file: string; node: Node }) {
  const { head } = node;
  if (head.player === null) return <Panel title="Lock"><p class="empty">No decision here. Go to a decision to lock it.</p></Panel>;
  return <Painting file={file} node={node} side={node.sides[head.player]} />;
}

function Painting({ file, node, side }: { file: string; node: Node; side: Side }) {
  const { head } = node;
  const { actions } = head;
  const kinds = actions.map((each) => each.kind);
  const names = actions.map((each) => each.name);
  /** Rows of the strategy to lock; `painted` marks the locked hands. */
  const strategy = useSignal<readonly Float32Array[]>(side.frequency.map((row) => row.slice()));
  const painted = useSignal<Uint8Array>(new Uint8Array(side.hands.length));
  const mix = useSignal<readonly number[]>(actions.map((_, a) => (a === 0 ? 1 : 0)));
  const erase = useSignal(false);
  const name = useSignal("");
  const busy = useSignal(false);
  const rowsOf = useMemo(() => {
    const rows: number[][] = Array.from({ length: 169 }, () => []);
    side.hands.forEach((hand, i) => rows[HAND_CLASSES[hand]!]!.push(i));
    return rows;
  }, [side]);

  const paint = (rows: readonly number[], shares: readonly number[] | null) => {
    const [next, marks] = [strategy.peek().map((row) => row.slice()), painted.peek().slice()];
    for (const i of rows) {
      marks[i] = shares ? 1 : 0;
      next.forEach((row, a) => (row[i] = shares ? shares[a]! : side.frequency[a]![i]!));
    }
    strategy.value = next;
    painted.value = marks;
  };
  const freeze = () => {
    painted.value = new Uint8Array(side.hands.length).fill(1);
  };
  const all = [...side.hands.keys()];
  const shown: Side = { ...side, frequency: [...strategy.value] };
  const cells = useMemo(() => {
    const plain = strategyCells(byClass({ ...side, frequency: [...strategy.value] }), actions);
    return plain.map((cell, place) => {
      const rows = rowsOf[place]!;
      const locked = rows.filter((i) => painted.value[i]).length;
      return locked ? { ...cell, note: locked === rows.length ? "●" : "◐", said: `${cell.said ?? ""}, locked` } : cell;
    });
  }, [strategy.value, painted.value]);
  const count = painted.value.reduce((sum, each) => sum + each, 0);

  const solve = async () => {
    const rows = all.filter((i) => painted.peek()[i]);
    const lock = { line: head.line, rows: rows.map((i) => side.hands[i]!), strategy: strategy.peek().map((row) => normalised(strategy.peek(), row, rows)) };
    busy.value = true;
    const job = await tried(begin({ from: file, locks: [lock], name: name.peek().trim() || undefined }));
    busy.value = false;
    if (job) go(link(["jobs", job.id], { from: file, node: head.line }));
  };
  return (
    <Panel title={`Lock ${PLAYERS[side.player]} ${reached(head.line, head.unit)}`} tools={<span class="soft small">{count} of {side.hands.length} hands locked</span>}>
      <div class="stack">
        <Mix kinds={kinds} names={names} mix={mix.value} onMix={(next) => ((mix.value = next), (erase.value = false))} />
        <div class="row tight">
          <Button small onClick={() => paint(all, mix.peek())}>Paint the whole range</Button>
          <Button small onClick={freeze}>Freeze as solved</Button>
          <Button small onClick={() => paint(all, null)}>Unlock all</Button>
          <Check label="brush unlocks" value={erase.value} onChange={(value) => (erase.value = value)} />
        </div>
        <Bars parts={actionParts(kinds, names, together(shown).frequency)} label="Whole range with locks" />
        <div class="lock-grid">
          <Grid13 label="Paint the locked strategy; press Enter to paint" cells={cells} onPaint={(place) => paint(rowsOf[place]!, erase.peek() ? null : mix.peek())} />
        </div>
        {head.locked > 0 && <Notice>{head.locked} hands are locked here already; they stay so.</Notice>}
        <div class="row end">
          <Field label="Name of the new solution (optional)" value={name.value} onInput={(value) => (name.value = value)} />
          <Button kind="primary" disabled={!count || busy.value} onClick={() => void solve()}>Solve again</Button>
        </div>
      </div>
    </Panel>
  );
}

/** Set a row of the strategy at some hands, keeping each hand's total at one. */
function normalised(strategy: readonly Float32Array[], row: Float32Array, hands: readonly number[]): number[] {
  return hands.map((i) => row[i]! / (strategy.reduce((sum, each) => sum + each[i]!, 0) || 1));
}

/** Brush: a frequency for an action; the others shrink in proportion. */
function Mix({ kinds, names, mix, onMix }: { kinds: readonly string[]; names: readonly string[]; mix: readonly number[]; onMix: (mix: readonly number[]) => void }) {
  const [paint, signs] = [colours(kinds), letters(kinds)];
  const set = (a: number, share: number) => {
    const rest = mix.reduce((sum, each, i) => sum + (i === a ? 0 : each), 0);
    const others = mix.length - 1;
    onMix(mix.map((each, i) => (i === a ? share : rest > 0 ? (each / rest) * (1 - share) : (1 - share) / others)));
  };
  return (
    <div class="lock-actions" role="group" aria-label="What the brush paints">
      {names.map((name, a) => (
        <label key={name} class="lock-action">
          <Swatch colour={paint[a]!} letter={signs[a]!} />
          <span>{name}</span>
          <input type="range" min={0} max={100} value={Math.round(100 * mix[a]!)} onInput={(event) => set(a, Number(event.currentTarget.value) / 100)} />
          <Button small onClick={() => set(a, 1)} title={`only ${name}`}>{percent(mix[a], 0)}<span class="hidden"> only {name}</span></Button>
        </label>
      ))}
    </div>
  );
}
