/** @jsxImportSource hono/jsx */
/** The parts of which pages are made. */
import type { Child } from "hono/jsx";
import type { Change, ObjectRef } from "../../history/run-answer.ts";
import { objectText, valueText } from "../../history/run-sentences.ts";
import { readableAge } from "../../observe/readable-units.ts";
import type { ConditionAnswer, KeyAnswer, KindAnswer } from "../debug/answers.ts";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Child;
  /** How the cells look. @default text */
  readonly kind?: "number" | "short" | "long" | undefined;
}

interface TableProps<Row> {
  readonly id: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** What is said instead of an empty table. */
  readonly empty: string;
  readonly caption?: string | undefined;
}

/** A table that becomes a list of cards on narrow screens. */
export function Table<Row>({ id, rows, columns, empty, caption }: TableProps<Row>): Child {
  if (rows.length === 0) return <p class="soft">{empty}</p>;
  return (
    <div class="scroll" id={id} tabindex={0} role="region" aria-label={caption ?? id}>
      <table class="cards">
        {caption === undefined ? "" : <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th scope="col" class={kind ?? ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map(({ title, kind, cell }) => (
                <td class={kind ?? ""} data-label={title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const TONES: Readonly<Record<string, "good" | "warn" | "bad">> = {
  running: "good",
  watching: "good",
  success: "good",
  requeueAfter: "good",
  True: "good",
  parked: "bad",
  stuck: "bad",
  failing: "bad",
  error: "bad",
  broken: "bad",
  stalled: "bad",
  unavailable: "bad",
  unreachable: "bad",
  suspended: "bad",
  False: "warn",
  Unknown: "warn",
  retry: "warn",
  waiting: "warn",
  slowed: "warn",
  paused: "warn",
  draining: "warn",
  cancelled: "warn",
};

/** A word for a state, which the glossary explains. @param neutral whether the word is no judgement here. */
export function State({ word, neutral = false }: { readonly word: string; readonly neutral?: boolean }): Child {
  return <span class={`badge ${neutral ? "" : (TONES[word] ?? "")}`}>{word}</span>;
}

/** A point in time, as the time that has passed since, or that is left. */
export function When({ at, now }: { readonly at: string | undefined; readonly now: number }): Child {
  if (at === undefined) return "";
  const ms = now - Date.parse(at);
  return (
    <time datetime={at} title={at}>
      {ms >= 0 ? `${readableAge(ms)} ago` : `in ${readableAge(-ms)}`}
    </time>
  );
}

/** When a key is tried again, or since when it is in its state. */
export function KeyTime({ of: { since, until }, now }: { readonly of: KeyAnswer; readonly now: number }): Child {
  const at = until ?? since;
  if (at === undefined) return "";
  const age = readableAge(Math.abs(now - Date.parse(at)));
  return (
    <time datetime={at} title={at}>
      {until === undefined ? `for ${age}` : `again in ${age}`}
    </time>
  );
}

export function kindText({ group, kind }: KindAnswer): string {
  return group === "" ? kind : `${kind}.${group}`;
}

/** A link to the page of an object. */
export function ObjectLink({ object }: { readonly object: ObjectRef }): Child {
  return <a href={objectPath(object)}>{objectText(object)}</a>;
}

function objectPath({ namespace, name, ...kind }: ObjectRef): string {
  const query = new URLSearchParams({ kind: kindText(kind), ...(namespace !== undefined && { namespace }), name });
  return `/objects?${query}`;
}

/** The key of a controller, with a link to its object if it has one. */
export function KeyLink({ of }: { readonly of: Pick<KeyAnswer, "kind" | "key"> }): Child {
  const { kind, key } = of;
  if (kind === undefined) return <span class="mono">{key}</span>;
  const [first = "", second] = key.split("/", 2);
  const object = second === undefined ? { ...kind, name: first } : { ...kind, namespace: first, name: second };
  return <a href={objectPath(object)}>{key}</a>;
}

export function Changes({
  changes,
  more = 0,
}: {
  readonly changes: readonly Change[];
  readonly more?: number | undefined;
}): Child {
  return (
    <>
      <table class="changes">
        <tbody>
          {changes.map(({ path, old, new: now }) => (
            <tr>
              <td class="mono">{path}</td>
              <td class="mono">
                {old === undefined ? "" : <del>{valueText(old)}</del>}{" "}
                {now === undefined ? "" : <ins>{valueText(now)}</ins>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 ? <span class="soft">and {more} more</span> : ""}
    </>
  );
}

export function Conditions({ conditions }: { readonly conditions: readonly ConditionAnswer[] }): Child {
  return (
    <ul class="plain">
      {conditions.map(({ type, status, reason, message }) => (
        <li>
          <span class={`badge ${status === "True" ? "" : "warn"}`}>
            {type} {status}
          </span>{" "}
          {reason === undefined ? "" : <strong>{reason}</strong>} {message ?? ""}
        </li>
      ))}
    </ul>
  );
}

/** A button whose action needs the token. */
export function ActionButton(props: {
  readonly id: string;
  readonly label: string;
  readonly action: string;
  readonly body: object;
  /** What is said when it is done. */
  readonly done: string;
  /** What the button is for, where the label alone does not say it. */
  readonly about?: string | undefined;
}): Child {
  const { id, label, action, body, done, about } = props;
  return (
    <button
      type="button"
      id={id}
      disabled
      data-action={action}
      data-body={JSON.stringify(body)}
      data-done={done}
      aria-label={about === undefined ? undefined : `${label}: ${about}`}
    >
      {label}
    </button>
  );
}

/** The button that runs a key at once. */
export function RunAgain({ controller, keyName }: { readonly controller: string; readonly keyName: string }): Child {
  return (
    <ActionButton
      id={`run ${controller} ${keyName}`}
      label="Run again"
      action="/debug/retry"
      body={{ controller, key: keyName }}
      done={`${controller} ${keyName} runs again.`}
      about={`${controller} ${keyName}`}
    />
  );
}
