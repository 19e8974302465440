// A table that sorts by a click on a column's head.
import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";

export interface Column<Row> {
  key: string;
  label: string;
  show: (row: Row) => ComponentChildren;
  /** By what it sorts; without it, it does not. */
  sort?: (row: Row) => number | string | null | undefined;
  number?: boolean;
  /** Left out where the window is narrow. */
  minor?: boolean;
  /** Left out on a phone. */
  roomy?: boolean;
}

interface Order {
  key: string;
  down: boolean;
}

/** Rows by a column; those without a value come last, whichever way. */
export function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | null): readonly Row[] {
  const by = columns.find((column) => column.key === order?.key)?.sort;
  if (!by || !order) return rows;
  const missing = (value: unknown) => value == null || Number.isNaN(value);
  const sign = order.down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [by(a), by(b)];
    if (missing(x) || missing(y)) return Number(missing(x)) - Number(missing(y));
    return sign * (x! < y! ? -1 : x! > y! ? 1 : 0);
  });
}

const classOf = <Row,>(column: Column<Row>): string => [column.number && "number", column.minor && "minor", column.roomy && "roomy"].filter(Boolean).join(" ");

export function Table<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  id: (row: Row) => string;
  first?: Order;
  chosen?: string | null;
  onRow?: (row: Row) => void;
  most?: number;
  empty?: string;
}) {
  const { columns, rows, id, onRow, chosen, most = 500 } = props;
  const order = useSignal<Order | null>(props.first ?? null);
  const shown = sorted(rows, columns, order.value);
  const sortBy = (column: Column<Row>) => {
    const now = order.value;
    order.value = { key: column.key, down: now?.key === column.key ? !now.down : !!column.number };
  };
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label={props.label}>
      <table class="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={classOf(column)}
                aria-sort={column.sort ? (order.value?.key === column.key ? (order.value.down ? "descending" : "ascending") : "none") : undefined}
              >
                {column.sort ? <button type="button" onClick={() => sortBy(column)}>{column.label}</button> : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.slice(0, most).map((row) => (
            <tr
              key={id(row)}
              class={id(row) === chosen ? "chosen" : ""}
              tabIndex={onRow ? 0 : undefined}
              onClick={onRow && ((event) => (event.target as Element).closest("a, button, input, form") || onRow(row))}
              onKeyDown={onRow && ((event) => event.key === "Enter" && event.target === event.currentTarget && onRow(row))}
            >
              {columns.map((column) => <td key={column.key} class={classOf(column)}>{column.show(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length > most && <p class="soft small">and {shown.length - most} more</p>}
      {!shown.length && <p class="empty">{props.empty ?? "Nothing here."}</p>}
    </div>
  );
}
