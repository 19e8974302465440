// Buttons, fields, panels, dialogs: the plain parts of every view.
import type { ComponentChildren, TargetedInputEvent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { signal, useSignal } from "@preact/signals";
import { duration } from "./numbers.ts";
import { message } from "../use.ts";

export type Kind = "plain" | "primary" | "quiet" | "danger";

export function Button(props: {
  children: ComponentChildren;
  onClick?: () => void;
  kind?: Kind;
  small?: boolean;
  disabled?: boolean;
  pressed?: boolean;
  /** For buttons that show only a sign. */
  label?: string;
  title?: string;
  submit?: boolean;
}) {
  const { kind = "plain", small, label, pressed, submit, children, ...rest } = props;
  return (
    <button type={submit ? "submit" : "button"} class={`button ${kind}${small ? " small" : ""}`} aria-label={label} aria-pressed={pressed} {...rest}>
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function LinkButton({ href, kind = "plain", small, download, children }: { href: string; kind?: Kind; small?: boolean; download?: boolean | string; children: ComponentChildren }) {
  return <a class={`button ${kind}${small ? " small" : ""}`} href={href} download={download}>{children}</a>;
}

export function Panel({ title, tools, children, label, class: name = "" }: { title?: ComponentChildren; tools?: ComponentChildren; children: ComponentChildren; label?: string; class?: string }) {
  const id = useId();
  return (
    <section class={`panel ${name}`} aria-labelledby={title ? id : undefined} aria-label={title ? undefined : label}>
      {(title || tools) && (
        <header>
          {title ? <h2 id={id}>{title}</h2> : <span />}
          {tools && <div class="row tight">{tools}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** A text field with its label, a hint and what is wrong with it. */
export function Field(props: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: ComponentChildren;
  error?: string | null | undefined;
  rows?: number;
  placeholder?: string;
  width?: string;
  onEnter?: () => void;
}) {
  const id = useId();
  const { label, value, onInput, hint, error, rows, placeholder, width, onEnter } = props;
  const common = {
    id,
    value,
    placeholder,
    spellcheck: false,
    autocomplete: "off",
    "aria-invalid": !!error,
    "aria-describedby": error || hint ? id + "-more" : undefined,
    onInput: (event: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) => onInput(event.currentTarget.value),
  };
  return (
    <div class="field" style={width ? { width } : undefined}>
      <label class="label" for={id}>{label}</label>
      {rows ? (
        <textarea rows={rows} {...common} />
      ) : (
        <input type="text" {...common} onKeyDown={(event) => event.key === "Enter" && onEnter?.()} />
      )}
      {(error || hint) && <span id={id + "-more"} class={error ? "error" : "hint"}>{error || hint}</span>}
    </div>
  );
}

export interface Option<T extends string> {
  value: T;
  label: string;
  title?: string;
}

export function Select<T extends string>({ label, value, options, onChange, quiet }: { label: string; value: T; options: readonly Option<T>[]; onChange: (value: T) => void; quiet?: boolean }) {
  const id = useId();
  return (
    <div class="field">
      <label class={quiet ? "hidden" : "label"} for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map((option) => <option key={option.value} value={option.value}>{option.label}</option>)}
      </select>
    </div>
  );
}

/** One of a few choices, all in sight; arrow keys move. */
export function Segments<T extends string>({ label, value, options, onChange }: { label: string; value: T; options: readonly Option<T>[]; onChange: (value: T) => void }) {
  const group = useRef<HTMLDivElement>(null);
  const move = (by: number) => {
    const now = options.findIndex((option) => option.value === value);
    const next = (now + by + options.length) % options.length;
    onChange(options[next]!.value);
    (group.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  return (
    <div
      class="segments"
      role="radiogroup"
      aria-label={label}
      ref={group}
      onKeyDown={(event) => {
        const by = steps[event.key];
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        move(by);
      }}
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          title={option.title}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

export function Check({ label, value, onChange }: { label: ComponentChildren; value: boolean; onChange: (value: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

export function Notice({ children, bad }: { children: ComponentChildren; bad?: boolean }) {
  return <div class={bad ? "notice bad" : "notice"} role={bad ? "alert" : "status"}>{children}</div>;
}

/** Name and value pairs in a line that wraps. */
export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

/** What is going on, and for how many seconds: "Reading the hand, 3 s". */
export function Elapsed({ since, children }: { since: number; children: ComponentChildren }) {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((now.value - since) / 1000);
  return (
    <span class="elapsed" role="status">
      <i aria-hidden="true" />
      <span>{children}{seconds > 0 && <span aria-hidden="true">, {seconds < 90 ? `${seconds} s` : duration(seconds)}</span>}</span>
    </span>
  );
}

export function Progress({ part, label }: { part: number; label: string }) {
  const now = Math.round(100 * Math.min(Math.max(part, 0), 1));
  return (
    <div class="progress" role="progressbar" aria-label={label} aria-valuenow={now} aria-valuemin={0} aria-valuemax={100}>
      <i style={{ width: now + "%" }} />
    </div>
  );
}

export function Dialog({ title, open, onClose, children }: { title: string; open: boolean; onClose: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (open && !box.current?.open) box.current?.showModal();
    if (!open && box.current?.open) box.current.close();
  }, [open]);
  return (
    <dialog ref={box} aria-labelledby={id} onClose={onClose}>
      {open && (
        <div class="stack">
          <div class="row spread">
            <h2 id={id}>{title}</h2>
            <Button kind="quiet" small label="Close" onClick={onClose}>✕</Button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  );
}

/** An action offered with a message, such as "Undo". */
interface Offer {
  label: string;
  run: () => void;
}

const toasts = signal<readonly { id: number; text: string; bad: boolean; offer: Offer | undefined }[]>([]);
let told = 0;

/** Show a message in the corner for a few seconds. */
export function tell(text: string, bad = false, offer?: Offer): void {
  const id = told++;
  toasts.value = [...toasts.peek(), { id, text, bad, offer }];
  setTimeout(() => (toasts.value = toasts.peek().filter((each) => each.id !== id)), offer ? 20_000 : bad ? 9000 : 4000);
}

/** Await a promise; on an error, show it in the corner and return undefined. */
export async function tried<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    tell(message(error), true);
    return undefined;
  }
}

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite">
      {toasts.value.map((each) => (
        <Notice key={each.id} bad={each.bad}>
          {each.text}
          {each.offer && <>{" "}<Button small onClick={() => (each.offer!.run(), (toasts.value = toasts.peek().filter((other) => other.id !== each.id)))}>{each.offer.label}</Button></>}
        </Notice>
      ))}
    </div>
  );
}
