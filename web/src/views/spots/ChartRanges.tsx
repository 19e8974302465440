// Ranges with which solved preflop charts see a flop: by depth, pot type and position.
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { Button, Notice, Select } from "../../look/basics.tsx";
import { percent } from "../../look/numbers.ts";
import { useLoaded } from "../../use.ts";
import type { Draft } from "./draft.ts";

export interface FlopLine {
  line: string;
  title: string;
  pot_type: string;
  share: number;
  reliable: boolean;
  pot: number;
  stack: number;
  /** Of the big blind, out of position, and of the small blind. */
  ranges: { text: string; combos: number }[];
}

export interface AboutChart {
  made: string;
  lines: FlopLine[];
}

/** Both ranges, pot and stack of a line in a new spot. */
export const spotOf = ({ ranges, pot, stack }: FlopLine): Partial<Draft> => ({ oop: ranges[0]!.text, ip: ranges[1]!.text, pot: `${pot}bb`, stack: `${stack}bb` });

/** The lines of a chart; null while another one loads. */
export function useAbout(file: string) {
  const loaded = useLoaded<AboutChart>((signal) => get("preflop/ranges", { file }, signal), [file]);
  return { ...loaded, data: loaded.of?.[0] === file ? loaded.data : null };
}

/** The lines of a chart that see a flop; `children` makes the buttons of one. */
export function FlopLines({ of, children }: { of: AboutChart; children: (line: FlopLine) => preact.ComponentChildren }) {
  return (
    <ul class="flop-lines">
      {of.lines.filter((each) => each.reliable).map((each) => (
        <li key={each.line}>
          <span><b>{each.pot_type}</b> <span class="soft small">{percent(each.share)} of hands, pot {each.pot} bb, {each.stack} bb behind</span><br />{each.title}<span class="soft small"> · BB {Math.round(each.ranges[0]!.combos)}, SB {Math.round(each.ranges[1]!.combos)} combos</span></span>
          <span class="row tight">{children(each)}</span>
        </li>
      ))}
    </ul>
  );
}

/** Charts by depth, and their ranges. */
export function ChartRanges({ seat, onBoth, onOne }: { seat: string; onBoth: (line: FlopLine) => void; onOne: (text: string) => void }) {
  const charts = useLoaded((signal) => get<{ charts: string[] }>("preflop/charts", {}, signal), []);
  const file = useSignal("100bb");
  const about = useAbout(file.value);
  return (
    <div class="stack tight">
      <Select label="Stack" value={file.value} options={(charts.data?.charts ?? [file.value]).map((value) => ({ value, label: value.replace("bb", " bb") }))} onChange={(value) => (file.value = value)} />
      {about.error && <Notice bad>{about.error}</Notice>}
      {about.data ? (
        <FlopLines of={about.data}>
          {(line) => (
            <>
              <Button small kind="primary" onClick={() => onBoth(line)}>Use both</Button>
              {["BB", "SB"].map((name, player) => <Button key={name} small label={`${name}'s range as ${seat}`} onClick={() => onOne(line.ranges[player]!.text)}>{name}</Button>)}
            </>
          )}
        </FlopLines>
      ) : <p class="empty" role="status">Reading the chart…</p>}
      <p class="soft small">“Use both” also sets pot and stack. The ranges follow the chart's own strategy along the line, heads-up: the big blind is out of position. There are no 6-max ranges, because no six-player chart has been solved.</p>
      {about.data && <p class="soft small made">{about.data.made}</p>}
    </div>
  );
}
