// The path through a betting tree as columns: the player, the actions, the chosen one; cards where they are dealt.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { CardPicker, Cards } from "./Cards.tsx";

export interface Choice {
  key: string;
  label: string;
  /** Cards to draw in place of the label. */
  cards?: string;
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
  /** Where cards come: how many at once, and those that cannot. */
  deal?: { count: number; blocked: readonly string[]; onTake: (cards: string) => void };
}

/** The cards that come, picked one after another until they are all there. */
function Deal({ of, label }: { of: NonNullable<TreeColumn["deal"]>; label: string }) {
  const picked = useSignal<readonly string[]>([]);
  const pick = (card: string) => {
    const now = picked.value.includes(card) ? picked.value.filter((each) => each !== card) : [...picked.value, card];
    picked.value = now.length < of.count ? now : [];
    if (now.length === of.count) of.onTake(now.join(""));
  };
  return <CardPicker label={label} chosen={picked.value} blocked={of.blocked} onPick={pick} />;
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
          {column.deal && <Deal of={column.deal} label={column.who} />}
          {column.choices.map((choice) => (
            <button key={choice.key} type="button" class={choice.colour ? "painted" : ""} aria-pressed={!!choice.taken} style={{ "--paint": choice.colour }} onClick={choice.onTake}>
              <span>{choice.cards ? <Cards of={choice.cards} /> : choice.label}{choice.detail && <small> {choice.detail}</small>}</span>
              {choice.note && <span>{choice.note}</span>}
            </button>
          ))}
        </li>
      ))}
    </ol>
  );
}
