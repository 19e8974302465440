// The way through a betting tree as columns: who acts, what there is, what was taken; cards where they come.
import { useEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { CardPicker } from "./Cards.tsx";

export interface Choice {
  key: string;
  label: string;
  /** Behind the label, softer: a size. */
  detail?: string;
  /** At the right: a frequency. */
  note?: string;
  colour?: string;
  taken?: boolean;
  onTake: () => void;
}

export interface TreeColumn {
  key: string;
  /** Who acts: "OOP". */
  who: string;
  /** At the right of it: the pot. */
  about?: ComponentChildren;
  here?: boolean;
  onHead?: () => void;
  choices: readonly Choice[];
  /** Where a card comes: the one taken, and those that cannot. */
  deal?: { taken: string | null; blocked: readonly string[]; onTake: (card: string) => void };
}

export function Tree({ columns, label }: { columns: readonly TreeColumn[]; label: string }) {
  const list = useRef<HTMLOListElement>(null);
  const here = columns.findIndex((column) => column.here);
  useEffect(() => {
    const item = list.current?.children[here] as HTMLElement | undefined;
    if (item) list.current!.scrollTo({ left: item.offsetLeft - list.current!.clientWidth / 2 + item.clientWidth / 2 });
  }, [here, columns.length]);
  return (
    <ol class="tree" ref={list} aria-label={label} tabIndex={0}>
      {columns.map((column) => (
        <li key={column.key} class={`${column.here ? "here" : ""}${column.deal ? " cards-column" : ""}`} aria-current={column.here ? "step" : undefined}>
          <div class="who">
            {column.onHead && !column.here ? (
              <a href="#" onClick={(event) => (event.preventDefault(), column.onHead!())}>{column.who}</a>
            ) : (
              <b>{column.who}</b>
            )}
            <span>{column.about}</span>
          </div>
          {column.deal && (
            <CardPicker label={`Next card, ${column.who}`} chosen={column.deal.taken ? [column.deal.taken] : []} blocked={column.deal.blocked} onPick={column.deal.onTake} />
          )}
          {column.choices.map((choice) => (
            <button key={choice.key} type="button" aria-pressed={!!choice.taken} style={{ "--paint": choice.colour }} onClick={choice.onTake}>
              <span>{choice.label}{choice.detail && <small> {choice.detail}</small>}</span>
              {choice.note && <span>{choice.note}</span>}
            </button>
          ))}
        </li>
      ))}
    </ol>
  );
}
