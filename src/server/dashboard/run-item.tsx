/** @jsxImportSource hono/jsx */
/** One run in a timeline: why it happened, what it did, and what came of it. */
import type { Child } from "hono/jsx";
import type { CauseAnswer, RunAnswer } from "../../history/run-answer.ts";
import {
  conditionTexts,
  eventText,
  isRefused,
  otherChanges,
  outcomeText,
  requestText,
  sourceText,
} from "../../history/run-sentences.ts";
import { readableMillis } from "../../observe/readable-units.ts";
import { Changes, KeyLink, ObjectLink, RunAgain, State, When } from "./parts.tsx";

interface RunItemProps {
  readonly run: RunAnswer;
  readonly now: number;
  /** Finds a run that has caused another one. */
  readonly runOf: (id: string) => RunAnswer | undefined;
}

/** The most links of a chain of causes. */
const MOST_LINKS = 10;

export function RunItem({ run, now, runOf }: RunItemProps): Child {
  const { id, at, controller, object, key, phase, duration, attempt, waited, outcome } = run;
  const kind = object && { group: object.group, version: object.version, kind: object.kind };
  return (
    <li id={`run-${id}`} class={toneOf(run)}>
      <div class="row">
        <h3>
          {controller} <KeyLink of={{ kind, key }} />
        </h3>
        <When at={at} now={now} />
        <span class="soft">
          {duration === undefined ? "under way" : readableMillis(duration)}
          {phase === "reconcile" ? "" : `, ${phase}`}
          {attempt > 1 ? `, attempt ${attempt}` : ""}
          {waited >= 100 ? `, waited ${readableMillis(waited)}` : ""}
        </span>
        {outcome === undefined ? "" : <State word={outcome.result} />}
        {outcome?.result === "parked" ? <RunAgain controller={controller} keyName={key} /> : ""}
      </div>
      <dl class="run">
        <dt>because</dt>
        <dd>
          <ul>
            {run.causes.map((cause) => (
              <Cause cause={cause} runOf={runOf} depth={0} />
            ))}
            {run.causes.length === 0 ? <li class="soft">the cause is no longer known</li> : ""}
          </ul>
        </dd>
        <Deeds run={run} />
        <dt>then</dt>
        <dd>{outcomeText(run)}</dd>
      </dl>
    </li>
  );
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function toneOf({ outcome }: RunAnswer): string {
  if (outcome === undefined) return "warn";
  return outcome.result === "success" || outcome.result === "requeueAfter" ? "" : "bad";
}

function Cause(props: {
  readonly cause: CauseAnswer;
  readonly runOf: RunItemProps["runOf"];
  readonly depth: number;
}): Child {
  const { cause, runOf, depth } = props;
  const { object, changes = [], more, run: ref } = cause;
  if (object === undefined) return <li>{sourceText(cause)}</li>;
  const link = ref === undefined || depth >= MOST_LINKS ? undefined : runOf(ref.id);
  return (
    <li>
      <ObjectLink object={object} /> {eventText(cause)}
      {changes.length === 0 ? "" : <Changes changes={changes} more={more} />}
      {link === undefined ? (
        ""
      ) : (
        <ul class="tree">
          <li>
            <span class="soft">
              in the run of {link.controller} {link.key}, because
            </span>
            <ul>
              {link.causes.map((one) => (
                <Cause cause={one} runOf={runOf} depth={depth + 1} />
              ))}
            </ul>
          </li>
        </ul>
      )}
    </li>
  );
}

function Deeds({ run }: { readonly run: RunAnswer }): Child {
  const { id, children, requests, status, finalizer, events, log, reads, truncated } = run;
  const acted = children.filter(({ action }) => action !== "unchanged");
  const kept = children.length - acted.length;
  const told = requests.filter((request) => request.by === "author" || isRefused(request));
  const conditions = status === undefined ? [] : conditionTexts(status);
  const fields = status === undefined ? [] : otherChanges(status);
  const isIdle =
    finalizer === undefined && acted.length === 0 && status === undefined && told.length === 0 && events.length === 0;
  return (
    <>
      <dt>did</dt>
      <dd>
        <ul>
          {finalizer === undefined ? "" : <li>{finalizer} the finalizer</li>}
          {acted.map(({ action, object, changes = [], more, error }) => (
            <li>
              {action} child <ObjectLink object={object} />
              {error === undefined ? "" : `: ${error}`}
              {changes.length === 0 ? "" : <Changes changes={changes} more={more} />}
            </li>
          ))}
          {kept > 0 ? (
            <li class="soft">left {kept === 1 ? "1 child as it was" : `${kept} children as they were`}</li>
          ) : (
            ""
          )}
          {status === undefined ? (
            ""
          ) : (
            <li>
              status: {conditions.join("; ") || (fields.length === 0 ? "written" : "")}
              {fields.length === 0 ? "" : <Changes changes={fields} more={status.more} />}
            </li>
          )}
          {told.map((request) => (
            <li>{requestText(request)}</li>
          ))}
          {events.map(({ type, reason, message }) => (
            <li>
              event {type} <strong>{reason}</strong>: {message}
            </li>
          ))}
          {isIdle ? <li class="soft">nothing: everything was as it should be</li> : ""}
          {truncated === true ? <li class="soft">and more, which was not recorded</li> : ""}
        </ul>
        {requests.length + reads.length + log.length === 0 ? (
          ""
        ) : (
          <details id={`details-${id}`}>
            <summary>
              {counted(requests.length, "request")}, {counted(reads.length, "read")}, {counted(log.length, "line")}
            </summary>
            <ul>
              {reads.map(({ verb, kind, key, from, count }) => (
                <li class="mono">
                  {verb} {kind.kind} {key ?? ""} from the {from}
                  {count > 1 ? `, ${count} times` : ""}
                </li>
              ))}
              {requests.map((request) => (
                <li class="mono">
                  +{readableMillis(request.at)} {requestText(request)}
                </li>
              ))}
              {log.map(({ level, message, fields: values }) => (
                <li class="mono">
                  {level} {message} {JSON.stringify(values)}
                </li>
              ))}
            </ul>
          </details>
        )}
      </dd>
    </>
  );
}
