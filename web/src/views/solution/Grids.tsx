// One grid or both side by side.
import { useMemo } from "preact/hooks";
import { CLASSES } from "../../look/deck.ts";
import { Grid13 } from "../../look/Grid13.tsx";
import { cellsFor, type Show } from "./cells.ts";
import { byClass, PLAYERS, type Node, type Player } from "./node.ts";

export type Sides = "0" | "1" | "both";

interface Props {
  node: Node;
  show: Show;
  sides: Sides;
  keep: readonly [Uint8Array | null, Uint8Array | null];
  chosen: string | null;
  onPoint: (place: number | null) => void;
  onChoose: (name: string) => void;
}

export function Grids(props: Props) {
  if (props.sides !== "both") return <One {...props} player={Number(props.sides) as Player} />;
  return (
    <div class="two-grids">
      {([0, 1] as const).map((player) => (
        <div key={player} class="stack tight"><b class="soft">{PLAYERS[player]}</b><One {...props} player={player} /></div>
      ))}
    </div>
  );
}

function One({ node, show, keep, chosen, onPoint, onChoose, player }: Props & { player: Player }) {
  const cells = useMemo(
    () => cellsFor(show, byClass(node.sides[player], keep[player]), node.head.player === player ? node.head.actions : []),
    [node, show, keep[player], player],
  );
  const place = chosen ? CLASSES.indexOf(chosen) : -1;
  return <Grid13 label={`${PLAYERS[player]}, ${show}`} cells={cells} chosen={place < 0 ? null : place} onPoint={onPoint} onChoose={(at) => onChoose(CLASSES[at]!)} />;
}
