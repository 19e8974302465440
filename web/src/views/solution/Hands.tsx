// Single combos: of the selected or pointed hand class, otherwise of the whole range, as a sortable table.
import { useMemo } from "preact/hooks";
import { Button, Panel } from "../../look/basics.tsx";
import { actionParts, Bars } from "../../look/Bars.tsx";
import { Hand } from "../../look/Cards.tsx";
import { CLASSES } from "../../look/deck.ts";
import { chips, percent } from "../../look/numbers.ts";
import { Table, type Column } from "../../look/table.tsx";
import { HAND_CLASSES, HANDS } from "../spots/range.ts";
import { PLAYERS, type Node, type Player } from "./node.ts";
import { stepName } from "./words.ts";

interface Row {
  hand: string;
  weight: number;
  share: number;
  ev: number;
  equity: number;
  frequency: number[];
  actionEv: number[];
}

interface Props {
  node: Node;
  player: Player;
  pointed: number | null;
  chosen: string | null;
  keep: Uint8Array | null;
  onClear: () => void;
}

export function Hands({ node, player, pointed, chosen, keep, onClear }: Props) {
  const side = node.sides[player];
  const acts = node.head.player === player;
  const fixed = chosen ? CLASSES.indexOf(chosen) : -1;
  const place = pointed ?? (fixed >= 0 ? fixed : null);
  const rows = useMemo((): Row[] => {
    const wanted = [...side.hands.keys()].filter((i) => (!keep || keep[i]) && (place === null ? side.weight[i]! > 0 : HAND_CLASSES[side.hands[i]!] === place));
    return wanted.map((i) => ({
      hand: HANDS[side.hands[i]!]!,
      weight: side.weight[i]!,
      share: side.share[i]!,
      ev: side.ev[i]!,
      equity: side.equity[i]!,
      frequency: side.frequency.map((row) => row[i]!),
      actionEv: side.actionEv.map((row) => row[i]!),
    }));
  }, [node, player, place, keep]);
  const columns = useMemo(() => columnsOf(node, acts), [node, acts]);
  const title = place === null ? `Hands of ${PLAYERS[player]}` : `${CLASSES[place]}, ${PLAYERS[player]}`;
  return (
    <Panel title={title} tools={chosen ? <Button small onClick={onClear}>All hands</Button> : <span class="soft small">{rows.length} hands, EV in {node.head.unit}</span>}>
      <div class="hands-frame">
        <Table label={title} columns={columns} rows={rows} id={(row) => row.hand} first={{ key: "ev", down: true }} most={place === null ? 60 : 12} empty="No such hand is in the range." />
      </div>
    </Panel>
  );
}

function columnsOf(node: Node, acts: boolean): Column<Row>[] {
  const { actions } = node.head;
  const kinds = actions.map((each) => each.kind);
  const names = actions.map((each) => each.name);
  const plain: Column<Row>[] = [
    { key: "hand", label: "Hand", show: (row) => <Hand hand={row.hand} />, sort: (row) => CLASSES.length - handRank(row.hand) },
    { key: "weight", label: "Weight", number: true, show: (row) => percent(row.weight, 0), sort: (row) => row.weight },
    { key: "equity", label: "Equity", number: true, show: (row) => percent(row.equity), sort: (row) => row.equity },
    { key: "ev", label: "EV", number: true, show: (row) => chips(row.ev), sort: (row) => row.ev },
  ];
  if (!acts) return plain;
  return [
    plain[0]!,
    {
      key: "strategy",
      label: "Strategy",
      show: (row) => <div class="hand-bar"><Bars small parts={actionParts(kinds, names, row.frequency)} label={row.hand} /></div>,
      sort: (row) => row.frequency.at(-1),
    },
    ...plain.slice(1),
    ...actions.map((action, a): Column<Row> => ({
      key: "ev " + action.step,
      label: `EV ${stepName(action.step).replace("-", "\u2011")}`,
      number: true,
      show: (row) => chips(row.actionEv[a]),
      sort: (row) => row.actionEv[a],
    })),
  ];
}

const ORDER = "23456789TJQKA";
const handRank = (hand: string): number => -(ORDER.indexOf(hand[0]!) * 13 + ORDER.indexOf(hand[2]!));
