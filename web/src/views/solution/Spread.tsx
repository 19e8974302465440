// Equity and EV curves over both ranges, from the worst hand to the best.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Panel, Segments } from "../../look/basics.tsx";
import { Curve } from "../../look/Curve.tsx";
import { PLAYERS, spread, type Node } from "./node.ts";

export function Spread({ node, keep }: { node: Node; keep: readonly [Uint8Array | null, Uint8Array | null] }) {
  const what = useSignal<"equity" | "ev">("equity");
  const lines = useMemo(
    () =>
      ([0, 1] as const).map((player) => {
        const side = node.sides[player];
        const points = spread(side, side[what.value], keep[player]);
        return { name: PLAYERS[player], points: what.value === "equity" ? points.map(([x, y]) => [x, 100 * y] as const) : points };
      }),
    [node, keep, what.value],
  );
  return (
    <Panel
      title={what.value === "equity" ? "Equity over the range, %" : "EV over the range"}
      tools={<Segments label="Shown" value={what.value} options={[{ value: "equity", label: "Equity" }, { value: "ev", label: "EV" }]} onChange={(value) => (what.value = value)} />}
    >
      <Curve key={what.value} label={`${what.value} of both ranges, worst hands left`} lines={lines} x="fraction of the range, %" log={false} height={300} />
    </Panel>
  );
}
