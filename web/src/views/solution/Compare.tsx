// Two solutions at the same node: strategies side by side, and the change of each hand's EV.
import { useEffect, useMemo } from "preact/hooks";
import { arrays, get, type Arrays } from "../../api.ts";
import { Facts, Notice, Panel, Select } from "../../look/basics.tsx";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Grid13 } from "../../look/Grid13.tsx";
import { chips, count, percent, signed } from "../../look/numbers.ts";
import { ask, link, place } from "../../router.ts";
import { useLoaded, useTitle } from "../../use.ts";
import type { StartData } from "../start/found.ts";
import { HAND_CLASSES } from "../spots/range.ts";
import { differenceCells, strategyCells } from "./cells.ts";
import { byClass, loadNode, PLAYERS, together, type Node, type Player, type SideTotals } from "./node.ts";
import { parent, said } from "./words.ts";
import "./solution.css";

interface ComparedHead {
  same_spot: boolean;
  iterations: [number, number];
  exploitability: [number | null, number | null];
  locks: [number, number];
  line: [string, string];
  sides: [[SideTotals, SideTotals], [SideTotals, SideTotals]];
}

interface Both {
  compared: Arrays<ComparedHead>;
  nodes: [Node, Node];
}

export default function Compare() {
  const { query } = place.value;
  const [file, other, line] = [query.get("file") ?? "", query.get("with") ?? "", query.get("node") ?? ""];
  useTitle("Compare");
  const start = useLoaded<StartData>((signal) => get("start", {}, signal), []);
  const both = useLoaded<Both>(
    file && other
      ? async (signal) => {
          const [compared, one, two] = await Promise.all([
            arrays<ComparedHead>("solution/compare", { file, with: other, line, with_line: line }, signal),
            loadNode("solution/node", { file, line }, signal),
            loadNode("solution/node", { file: other, line }, signal),
          ]);
          return { compared, nodes: [one, two] };
        }
      : null,
    [file, other, line],
  );
  const found = start.data?.solutions ?? [];
  const known = found.find((each) => each.file === (file || other));
  const alike = found.filter((each) => !known || each.board === known.board);
  // A solution with locks is compared with the one that it was made from: the newest of the same spot that has fewer locks.
  const original = !file && known ? alike.find((each) => each.file !== other && each.pot === known.pot && each.stack === known.stack && each.locks < known.locks) : undefined;
  useEffect(() => original && ask({ file: original.file }), [original?.file]);
  const options = [{ value: "", label: "choose…" }, ...alike.map((each) => ({ value: each.file, label: `${each.file}  ${each.board}${each.locks ? `, ${each.locks} ${each.locks === 1 ? "lock" : "locks"}` : ""}` }))];
  return (
    <>
      <h1>Compare two solutions</h1>
      <div class="columns two">
        <Select label="Before" value={file} options={options} onChange={(value) => ask({ file: value })} />
        <Select label="After" value={other} options={options} onChange={(value) => ask({ with: value })} />
      </div>
      {both.error && <Notice bad>{both.error}</Notice>}
      {file && other && both.data && both.of?.[0] === file && both.of[1] === other ? <Shown {...both.data} files={[file, other]} line={line} /> : <p class="empty">{file && other ? (both.error ? "" : "Comparing…") : known && alike.length < 2 ? "There is no other solution of this board." : "Choose two solutions of the same board."}</p>}
    </>
  );
}

function Shown({ compared, nodes, files, line }: Both & { files: [string, string]; line: string }) {
  const { head } = compared;
  const { unit } = nodes[0].head;
  const differences = useMemo(() => ([0, 1] as const).map((player) => byClassDifference(compared, player)), [compared]);
  return (
    <>
      <div class="row tight">
        <button type="button" class="button small" disabled={!line} onClick={() => ask({ node: parent(line) }, false)}>Back</button>
        <span>{line ? <>After <b>{said(line, unit)}</b></> : "At the start"}:</span>
        {nodes[0].head.children.length <= 12 && nodes[0].head.actions.map((action, a) => (
          <button key={action.step} type="button" class="button small" onClick={() => ask({ node: nodes[0].head.children[a] }, false)}>{action.name}</button>
        ))}
      </div>
      {!head.same_spot && <Notice>These are different spots; hands in both ranges are compared.</Notice>}
      <div class="columns two">
        {([0, 1] as const).map((which) => (
          <Panel key={which} title={which ? "After" : "Before"} tools={<a href={link(["solution", files[which]], { node: line })}>{files[which]}</a>}>
            <div class="stack">
              <Facts
                of={[
                  ["Iterations", count(head.iterations[which])],
                  ["Exploitability", `${chips(head.exploitability[which])} ${unit}`],
                  ["Locks", head.locks[which]],
                  ...([0, 1] as const).map((each) => [`EV ${PLAYERS[each]}`, `${chips(head.sides[which][each].ev)} ${unit}`] as const),
                ]}
              />
              <Strategy node={nodes[which]} />
            </div>
          </Panel>
        ))}
      </div>
      <Panel title={`EV after minus EV before, ${unit}`}>
        <div class="columns two">
          {([0, 1] as const).map((player) => (
            <div key={player} class="stack tight chart">
              <Facts of={[[`${PLAYERS[player]} total`, signed(change(head, player))]]} />
              <Grid13 label={`Change of EV of ${PLAYERS[player]}`} cells={differences[player]!} />
            </div>
          ))}
        </div>
      </Panel>
    </>
  );
}

const change = (head: ComparedHead, player: Player): number | null => {
  const [before, after] = [head.sides[0][player].ev, head.sides[1][player].ev];
  return before == null || after == null ? null : after - before;
};

function Strategy({ node }: { node: Node }) {
  const { actions, player } = node.head;
  const cells = useMemo(() => (player === null ? [] : strategyCells(byClass(node.sides[player]), actions)), [node]);
  if (player === null) return <p class="soft">No decision here.</p>;
  const parts = actionParts(actions.map((each) => each.kind), actions.map((each) => each.name), together(node.sides[player]).frequency);
  return (
    <div class="stack tight chart">
      <Bars parts={parts} label={`Whole range of ${PLAYERS[player]}`} />
      <Legend parts={parts.map((part) => ({ ...part, label: `${part.label} ${percent(part.share)}` }))} />
      <Grid13 label={`Strategy of ${PLAYERS[player]}`} cells={cells} />
    </div>
  );
}

/** The change in EV of each hand class, with the hands' earlier weights. */
function byClassDifference({ array }: Arrays<ComparedHead>, player: Player) {
  const [hands, difference, share] = [array("hands" + player), array("difference" + player), array(`share${player}a`)];
  const [sums, weights] = [new Float64Array(169), new Float64Array(169)];
  hands.forEach((hand, i) => {
    if (!Number.isFinite(difference[i]!)) return;
    const place = HAND_CLASSES[hand]!;
    const weight = share[i]! + 1e-12;
    sums[place]! += weight * difference[i]!;
    weights[place]! += weight;
  });
  return differenceCells([...sums].map((sum, place) => sum / weights[place]!), [...weights].map((weight) => weight > 0), "change of EV");
}
