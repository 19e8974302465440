// The range by groups (made hands, draws or suits), with each group's strategy and values.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Panel, Segments } from "../../look/basics.tsx";
import { actionParts, Bars } from "../../look/Bars.tsx";
import { chips, percent } from "../../look/numbers.ts";
import { Table, type Column } from "../../look/table.tsx";
import { GROUPING_NAMES, toggled } from "./FilterBar.tsx";
import { grouped, GROUPINGS, PLAYERS, type Filter, type Group, type Grouping, type Node, type Player } from "./node.ts";

interface Row extends Group {
  name: string;
  code: number;
}

export function Breakdown({ node, player, filter, onFilter }: { node: Node; player: Player; filter: Filter; onFilter: (filter: Filter) => void }) {
  const by = useSignal<Grouping>("made");
  const names = node.head.groupings[by.value];
  const side = node.sides[player];
  const rows = useMemo((): Row[] => {
    if (!names) return [];
    return grouped(side, side.codes[by.value], names.length)
      .map((group, code) => ({ ...group, name: names[code]!, code }))
      .filter((row) => row.combos > 0);
  }, [node, player, by.value]);
  if (!names) return <Panel title="Breakdown"><p class="empty">No groups here.</p></Panel>;
  const { actions } = node.head;
  const acts = node.head.player === player;
  const columns: Column<Row>[] = [
    { key: "name", label: GROUPING_NAMES[by.value], show: (row) => row.name, sort: (row) => row.code },
    { key: "combos", label: "Combos", number: true, show: (row) => chips(row.combos, 1), sort: (row) => row.combos },
    { key: "share", label: "Range", number: true, show: (row) => percent(row.share), sort: (row) => row.share },
    { key: "equity", label: "Equity", number: true, show: (row) => percent(row.equity), sort: (row) => row.equity },
    { key: "ev", label: `EV, ${node.head.unit}`, number: true, show: (row) => chips(row.ev), sort: (row) => row.ev },
  ];
  if (acts) {
    columns.splice(1, 0, {
      key: "strategy",
      label: "Strategy",
      show: (row) => <div class="hand-bar"><Bars small parts={actionParts(actions.map((each) => each.kind), actions.map((each) => each.name), row.frequency)} label={row.name} /></div>,
    });
  }
  return (
    <Panel
      title={`Range of ${PLAYERS[player]}`}
      tools={<Segments label="By" value={by.value} options={GROUPINGS.map((value) => ({ value, label: GROUPING_NAMES[value] }))} onChange={(value) => (by.value = value)} />}
    >
      <div class="hands-frame"><Table label={`Breakdown by ${GROUPING_NAMES[by.value]}`} columns={columns} rows={rows} id={(row) => row.name} onRow={(row) => onFilter(toggled(filter, by.value, row.code))} chosen={null} /></div>
      <p class="soft small">Select a row to filter the grid.</p>
    </Panel>
  );
}
