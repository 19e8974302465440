// A solved spot: its tree as columns, and details of the current node. The address holds the whole state.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { Button, Facts, LinkButton, Notice, Segments, tell } from "../../look/basics.tsx";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Cards } from "../../look/Cards.tsx";
import { amount, count, percent } from "../../look/numbers.ts";
import { Tree } from "../../look/Tree.tsx";
import { ask, link, place } from "../../router.ts";
import { useHeldKeys, useKeys } from "../../keys.ts";
import { useLoaded, useTitle, type Loaded } from "../../use.ts";
import { About } from "./About.tsx";
import { Breakdown } from "./Breakdown.tsx";
import { SHOWS, type Show } from "./cells.ts";
import { Export } from "./Export.tsx";
import { FilterBar } from "./FilterBar.tsx";
import { Grids, type Sides } from "./Grids.tsx";
import { Hands } from "./Hands.tsx";
import { LockPanel } from "./LockPanel.tsx";
import { filtering, kept, loadNode, NO_FILTER, PLAYERS, together, type Filter, type Node, type Player } from "./node.ts";
import { Overview } from "./Overview.tsx";
import { Runouts } from "./Runouts.tsx";
import { Spread } from "./Spread.tsx";
import { treeColumns } from "./steps.ts";
import { parent, said } from "./words.ts";
import type { SolutionInfo } from "./info.ts";
import "./solution.css";

const TABS = [
  { value: "hands", label: "Hands" },
  { value: "groups", label: "Breakdown" },
  { value: "spread", label: "Distribution" },
  { value: "runouts", label: "Runouts" },
  { value: "lock", label: "Lock" },
  { value: "about", label: "About" },
] as const;
type Tab = (typeof TABS)[number]["value"];

export default function Solution() {
  const { path, query } = place.value;
  const file = path.slice(1).join("/");
  return <Opened key={file} file={file} line={query.get("node") ?? ""} />;
}

/** A file; its own component, so that nothing of another file remains under its address. */
function Opened({ file, line }: { file: string; line: string }) {
  const info = useLoaded<SolutionInfo>(file ? (signal) => get("solution", { file }, signal) : null, [file]);
  const node = useLoaded<Node>(file ? (signal) => loadNode("solution/node", { file, line }, signal) : null, [file, line]);
  useTitle(info.data ? `${info.data.spot.board} ${said(line, info.data.spot.unit)}` : "Solution");
  useHeldKeys(!file || !!(info.data && node.data) || !!info.error || !!node.error);
  if (!file) return <Notice bad>Which solution? <a href="#/">Choose one</a>.</Notice>;
  if (!info.data || !node.data) {
    const wrong = info.error ?? node.error;
    return wrong ? <Notice bad>{wrong} {info.error ? <a href="#/">All solved spots</a> : <a href={link(["solution", file])}>Go to the first decision</a>}</Notice> : <p class="empty" role="status">Opening {file}…</p>;
  }
  return (
    <>
      <Head info={info.data} node={node.data} line={line} />
      {node.error && <Notice bad>{node.error}</Notice>}
      <At file={file} info={info.data} node={node.data} loading={node.loading} of={node.of} />
    </>
  );
}

function Head({ info, node: { head }, line }: { info: SolutionInfo; node: Node; line: string }) {
  const { unit } = info.spot;
  const board = head.board.length ? head.board : info.spot.board;
  const copy = () => navigator.clipboard.writeText(location.href).then(() => tell("The link is copied."), () => tell(location.href));
  return (
    <div class="row spread solution-head">
      <div class="row">
        <h1>{board.length ? <Cards of={board} large /> : "Before the flop"} <span class="hidden">{info.name}</span></h1>
        <Facts
          of={[
            ["Pot", amount(info.spot.opening_pot, unit)],
            ["Stack", amount(info.spot.stack, unit)],
            ["Exploitability", percent(info.exploitability_percent == null ? null : info.exploitability_percent / 100, 2)],
            ["Iterations", count(info.iterations)],
            ...(info.locks.length ? [["Locks", info.locks.length] as const] : []),
          ]}
        />
      </div>
      <div class="row tight">
        <Button small onClick={() => void copy()}>Copy link</Button>
        <LinkButton small href={link(["compare"], { [info.locks.length ? "with" : "file"]: info.file, node: line })}>Compare…</LinkButton>
        <LinkButton small href={link(["play"], { game: info.file, node: line })}>Play<span class="hidden"> against it</span></LinkButton>
        <LinkButton small href={link(["drill", info.file], { node: line })}>Drill</LinkButton>
        <Export file={info.file} line={line} />
      </div>
    </div>
  );
}

const choice = <T extends string>(given: string | null, of: readonly { value: T }[], otherwise: T): T => of.find((each) => each.value === given)?.value ?? otherwise;

function At({ file, info, node, loading, of }: { file: string; info: SolutionInfo; node: Node; loading: boolean; of: Loaded<Node>["of"] }) {
  const { query } = place.value;
  const { head } = node;
  const show = choice<Show>(query.get("show"), SHOWS, "strategy");
  const tab = choice<Tab>(query.get("tab"), TABS, "hands");
  const acting: Player = head.player ?? 0;
  const sides = choice<Sides>(query.get("side"), [{ value: "0" }, { value: "1" }, { value: "both" }], String(acting) as Sides);
  const hand = query.get("hand");
  const pointed = useSignal<number | null>(null);
  const filter = useSignal<Filter>(NO_FILTER);
  const keep = useMemo(() => [kept(node.sides[0], filter.value), kept(node.sides[1], filter.value)] as const, [node, filter.value]);
  const move = (line: string) => ask({ node: line }, false);
  const player = (sides === "both" ? acting : Number(sides)) as Player;
  useSteps(node, move, of);
  useKeys(
    [
      ...SHOWS.map((each, i) => ({ key: "seqr"[i]!, does: `show ${each.label}`, run: () => ask({ show: each.value }) })),
      { key: "o", does: "show OOP", run: () => ask({ side: "0" }) },
      { key: "i", does: "show IP", run: () => ask({ side: "1" }) },
      { key: "b", does: "show both", run: () => ask({ side: "both" }) },
      { key: "l", does: "lock this node", run: () => ask({ tab: "lock" }) },
    ],
    [],
  );
  const kinds = head.actions.map((each) => each.kind);
  const side = node.sides[acting];
  const parts = actionParts(kinds, head.actions.map((each) => each.name), together(side, keep[acting]).frequency);
  const columns = treeColumns(node, move);
  /** Rows of the highest column above the grid, which gets the rest of the window. */
  const rows = Math.max(...columns.map((column) => (column.deal ? 4 : column.choices.length)));
  return (
    <>
      <Tree label={`Line: ${said(head.line, head.unit)}`} columns={columns} />
      <div class={sides === "both" ? "looking both" : "looking"} style={{ "--rows": rows }} aria-busy={loading}>
        <div class="stack">
          <div class="row spread">
            <Segments label="Shown in the grid" value={show} options={SHOWS} onChange={(value) => ask({ show: value })} />
            <Segments
              label="Player"
              value={sides}
              options={[...([0, 1] as const).map((each) => ({ value: String(each) as Sides, label: PLAYERS[each] + (each === head.player ? " acts" : "") })), { value: "both", label: "Both" }]}
              onChange={(value) => ask({ side: value === String(acting) ? undefined : value })}
            />
          </div>
          <Grids node={node} show={show} sides={sides} keep={keep} chosen={hand} onPoint={(place) => (pointed.value = place)} onChoose={(name) => ask({ hand: name === hand ? undefined : name })} />
          <FilterBar node={node} filter={filter.value} onFilter={(next) => (filter.value = next)} />
        </div>
        <div class="stack">
          {head.player !== null && (
            <div class="stack tight">
              <Bars parts={parts} label={filtering(filter.value) ? "Filtered hands" : "Whole range"} />
              <Legend parts={parts} />
            </div>
          )}
          <Overview node={node} />
          <div class="row"><Tabs tab={tab} /></div>
          <div role="tabpanel" aria-label={TABS.find((each) => each.value === tab)!.label}>
            {tab === "hands" && <Hands node={node} player={player} pointed={pointed.value} chosen={hand} keep={keep[player]} onClear={() => ask({ hand: undefined })} />}
            {tab === "groups" && <Breakdown node={node} player={player} filter={filter.value} onFilter={(next) => (filter.value = next)} />}
            {tab === "spread" && <Spread node={node} keep={keep} />}
            {tab === "runouts" && <Runouts file={file} head={head} player={player} />}
            {tab === "lock" && <LockPanel key={head.line} file={file} node={node} />}
            {tab === "about" && <About info={info} />}
          </div>
        </div>
      </div>
    </>
  );
}

function Tabs({ tab }: { tab: Tab }) {
  return (
    <div class="segments" role="tablist" aria-label="About this node">
      {TABS.map((each, i) => (
        <button
          key={each.value}
          type="button"
          role="tab"
          aria-selected={each.value === tab}
          tabIndex={each.value === tab ? 0 : -1}
          onClick={() => ask({ tab: each.value })}
          onKeyDown={(event) => {
            const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
            if (!by) return;
            event.preventDefault();
            const next = (i + by + TABS.length) % TABS.length;
            ask({ tab: TABS[next]!.value });
            (event.currentTarget.parentElement!.children[next] as HTMLElement).focus();
          }}
        >
          {each.label}
        </button>
      ))}
    </div>
  );
}

/** Keys that walk the tree: back, on by the likeliest action, and numbers for the actions. */
function useSteps(node: Node, move: (line: string) => void, of: Loaded<Node>["of"]): void {
  const { head } = node;
  const likeliest = head.actions.reduce((best, action, a) => ((action.frequency ?? 0) > (head.actions[best]?.frequency ?? 0) ? a : best), 0);
  useKeys(
    [
      { key: "ArrowLeft", does: "one step back", run: () => head.line && move(parent(head.line)) },
      { key: "Backspace", does: "one step back", run: () => head.line && move(parent(head.line)) },
      { key: "ArrowRight", does: "the likeliest action", run: () => !head.deals && head.children[likeliest] !== undefined && move(head.children[likeliest]!) },
      { key: "0", does: "to the start", run: () => move("") },
      ...head.actions.slice(0, 9).map((action, a) => ({ key: String(a + 1), does: action.name, run: () => move(head.children[a]!) })),
    ],
    [head, of],
    () => of?.[1] === (place.peek().query.get("node") ?? ""),
  );
}
