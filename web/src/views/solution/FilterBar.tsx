// Filter by made hands, draws and suits; hands must match every selected grouping.
import { Button } from "../../look/basics.tsx";
import { filtering, GROUPINGS, NO_FILTER, type Filter, type Grouping, type Node } from "./node.ts";

export const GROUPING_NAMES: Record<Grouping, string> = { made: "Made hands", draw: "Draws", suits: "Suits" };

export function toggled(filter: Filter, by: Grouping, code: number): Filter {
  const now = filter[by];
  return { ...filter, [by]: now.includes(code) ? now.filter((each) => each !== code) : [...now, code] };
}

export function FilterBar({ node, filter, onFilter }: { node: Node; filter: Filter; onFilter: (filter: Filter) => void }) {
  const names = node.head.groupings;
  if (!names.made) return null;
  const present = (by: Grouping, code: number) => node.sides.some((side) => side.codes[by].some((each, i) => each === code && side.weight[i]! > 0));
  return (
    <details class="filters" open={filtering(filter)}>
      <summary>Filter hands{filtering(filter) && <b> (on)</b>}</summary>
      <div class="stack tight">
        {GROUPINGS.map((by) => {
          const shown = (names[by] ?? []).map((name, code) => ({ name, code })).filter(({ code }) => present(by, code));
          if (shown.length < 2) return null;
          return (
            <div key={by} class="row tight" role="group" aria-label={GROUPING_NAMES[by]}>
              <span class="small soft filter-name">{GROUPING_NAMES[by]}</span>
              {shown.map(({ name, code }) => (
                <Button key={name} small pressed={filter[by].includes(code)} onClick={() => onFilter(toggled(filter, by, code))}>{name}</Button>
              ))}
            </div>
          );
        })}
        {filtering(filter) && <div><Button small onClick={() => onFilter(NO_FILTER)}>Clear the filter</Button></div>}
      </div>
    </details>
  );
}
