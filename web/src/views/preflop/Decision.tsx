// One decision of a preflop chart: the path to it as columns, action frequencies, and the grid with strategy or EV.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Segments } from "../../look/basics.tsx";
import { aggressiveFirst, colours, ramp } from "../../look/actions.ts";
import { CLASSES } from "../../look/deck.ts";
import { Grid13, type Cell } from "../../look/Grid13.tsx";
import { chips, percent, signed } from "../../look/numbers.ts";
import { Tree } from "../../look/Tree.tsx";

export interface Chart {
  line: string;
  /** The lines of the decisions before this one. */
  path: string[];
  player: number;
  title: string;
  actions: string[];
  kinds: string[];
  often: number[];
  shares: number[][];
  /** Share of each class that reaches this node. */
  reach: number[];
  /** In big blinds relative to folding; null where it is unknown. */
  ev: (number | null)[][] | null;
  next: (string | null)[];
}

/** The small blind acts first. */
const SEATS = ["big blind", "small blind"];
const KINDS: Record<string, string> = { f: "fold", c: "call", x: "check", a: "allin", r: "raise", b: "bet" };
const WORDS: Record<string, string> = { f: "fold", c: "call", x: "check", a: "all-in", r: "raise ", b: "bet " };

export function Decision({ of, to }: { of: Chart; to: (line: string) => void }) {
  const pointed = useSignal<number | null>(null);
  const names = of.actions.map(spoken);
  const shown = useSignal<"strategy" | "ev">("strategy");
  const paint = colours(of.kinds);
  const parts = actionParts(of.kinds, names, of.often);
  const show = of.ev ? shown.value : "strategy";
  const cells = useMemo(() => {
    const order = aggressiveFirst(of.kinds);
    const best = CLASSES.map((_, at) => (of.ev ? of.shares.reduce((sum, row, action) => sum + row[at]! * (of.ev![action]![at] ?? 0), 0) : 0));
    const most = Math.max(...best.filter((_, at) => of.reach[at]! > 0), 0.01);
    return CLASSES.map((_, at): Cell => {
      const height = of.reach[at]!;
      const taken = order.filter((action) => of.shares[action]![at]! > 0.005);
      const said = taken.map((action) => `${names[action]} ${percent(of.shares[action]![at], 0)}`).join(", ");
      if (show === "ev") return { height: height > 0 ? 1 : 0, parts: [[ramp(Math.sqrt(Math.max(best[at]!, 0) / most)), 1]], note: height > 0 ? chips(best[at], Math.abs(best[at]!) < 9.95 ? 1 : 0) : undefined, said: `EV ${signed(best[at], 3)} bb, ${said}` };
      return { height: height > 0 ? Math.max(height, 0.04) : 0, parts: order.map((action) => [paint[action]!, of.shares[action]![at]!] as const), said };
    });
  }, [of, show]);
  const at = pointed.value;
  return (
    <>
      <Tree
        label="Path"
        columns={[
          ...of.path.map((line, at) => {
            const step = (of.path[at + 1] ?? of.line).slice(line.length).replace(/^,/, "");
            return { key: line || "root", who: SEATS[(at + 1) % 2]!, onHead: () => to(line), choices: [{ key: step, label: WORDS[step[0]!] + step.slice(1), taken: true, colour: colours([KINDS[step[0]!]!])[0]!, onTake: () => to(line) }] };
          }),
          {
            key: "here",
            who: of.title.split(", after ")[0]!,
            here: true,
            choices: names.map((name, action) => ({
              key: name, label: name, note: percent(of.often[action]), colour: paint[action]!, onTake: () => of.next[action] != null && to(of.next[action]!),
            })),
          },
        ]}
      />
      <div class="stack tight chart">
        <Bars parts={parts} label="All hands" />
        <div class="row tight spread">
          <Legend parts={parts} />
          {of.ev && <Segments label="Show" value={shown.value} options={[{ value: "strategy", label: "Strategy" }, { value: "ev", label: "EV" }]} onChange={(value) => (shown.value = value)} />}
        </div>
        <Grid13 label={`Strategy by hand class: ${of.title}`} cells={cells} onPoint={(place) => (pointed.value = place)} />
        <p class="soft small chart-line" aria-live="polite">{at === null ? `Point at a hand class. ${show === "ev" ? "EV in big blinds, relative to folding." : "Filled height: share of the class that reaches this node."}` : <><b>{CLASSES[at]}</b> {of.reach[at] ? actionLine(of, at) : "does not reach this node"}</>}</p>
      </div>
    </>
  );
}

/** An action for people: "raise 2.5" is "raise to 2.5". */
const spoken = (name: string): string => name.replace("allin", "all-in").replace(/^raise (?=\d)/, "raise to ");

const actionLine = (of: Chart, at: number) => of.actions.map((name, action) => `${spoken(name)} ${percent(of.shares[action]![at], 0)}${of.ev && of.kinds[action] !== "fold" ? ` (${signed(of.ev[action]![at], 2)} bb)` : ""}`).join(", ");
