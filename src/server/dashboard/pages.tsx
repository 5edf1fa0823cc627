/** @jsxImportSource hono/jsx */
/** The pages of the dashboard. What changes by itself is marked as live. */
import type { Child } from "hono/jsx";
import type { ObjectRef, RunAnswer } from "../../history/run-answer.ts";
import { objectText } from "../../history/run-sentences.ts";
import { LOG_LEVELS } from "../../observe/log.ts";
import { readableMillis, readableSize } from "../../observe/readable-units.ts";
import {
  KEY_STATES,
  type HistoryAnswer,
  type InformersAnswer,
  type KeyAnswer,
  type KeysAnswer,
  type LeasesAnswer,
  type LogLevelsAnswer,
  type ModulesAnswer,
  type OverviewAnswer,
  type OwnedAnswer,
  type ProcessAnswer,
  type WebhooksAnswer,
} from "../debug/answers.ts";
import { Chart } from "./chart.tsx";
import {
  ActionButton,
  type Column,
  Conditions,
  KeyLink,
  KeyTime,
  kindText,
  ObjectLink,
  RunAgain,
  State,
  Table,
  When,
} from "./parts.tsx";
import { RunItem } from "./run-item.tsx";

export interface OverviewProps {
  readonly process: ProcessAnswer;
  readonly modules: ModulesAnswer;
  /** The keys that need somebody. */
  readonly troubled: KeysAnswer;
  readonly seconds: readonly OverviewAnswer[];
  readonly now: number;
}

export function Overview({ process, modules, troubled, seconds, now }: OverviewProps): Child {
  const values = (of: (second: OverviewAnswer) => number | undefined) => seconds.map(of);
  const count = (value: number): string => String(Math.round(value));
  return (
    <>
      <div id="state" data-live>
        <ProcessState process={process} />
      </div>
      <section id="troubled" data-live>
        <h2>Keys that need somebody</h2>
        <Keys keys={troubled} now={now} empty="No key is parked, stuck or failing." />
        {troubled.total > troubled.keys.length ? (
          <p>
            <a href="/keys?state=parked,stuck,failing">All {troubled.total}</a>
          </p>
        ) : (
          ""
        )}
      </section>
      <section id="charts" data-live aria-label="The last minutes">
        <div class="charts">
          <Chart title="Runs a second" values={values(({ runs }) => runs)} format={count} />
          <Chart title="Failed runs a second" values={values(({ errors }) => errors)} format={count} isBad />
          <Chart title="Median run" values={values(({ p50 }) => p50)} format={readableMillis} />
          <Chart title="Slowest 1 % of runs" values={values(({ p99 }) => p99)} format={readableMillis} />
          <Chart title="Keys waiting" values={values(({ keys }) => keys.waiting)} format={count} />
          <Chart
            title="Keys failing or parked"
            values={values(({ keys }) => keys.failing + keys.parked + keys.stuck)}
            format={count}
            isBad
          />
          <Chart title="Requests a second" values={values(({ requests }) => requests)} format={count} />
          <Chart title="Memory" values={values(({ memory }) => memory)} format={readableSize} />
        </div>
      </section>
      <section id="controllers" data-live>
        <h2>Controllers</h2>
        <Controllers modules={modules} />
      </section>
    </>
  );
}

function ProcessState({ process }: { readonly process: ProcessAnswer }): Child {
  const { isReady, checks, isPaused, isLeader, server } = process;
  const failed = checks.filter(({ result }) => result === "failed");
  const notes = checks.filter(({ result }) => result === "note");
  return (
    <div class={`card notice ${isReady ? "good" : "bad"}`}>
      <p class="row">
        <strong>{isReady ? "Ready" : "Not ready"}</strong>
        <span>{process.replica}</span>
        {isLeader === undefined ? "" : <span>{isLeader ? "leads" : "another replica leads"}</span>}
        {isPaused ? <State word="paused" /> : ""}
        {server.isReachable ? "" : <span class="badge bad">the API server does not answer</span>}
      </p>
      {failed.length + notes.length === 0 ? (
        ""
      ) : (
        <ul>
          {[...failed, ...notes].map(({ name, reason }) => (
            <li>
              <strong>{name}</strong>: {reason}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Controllers({ modules: { modules } }: { readonly modules: ModulesAnswer }): Child {
  type Row = (typeof modules)[number]["controllers"][number] & {
    readonly module: string;
    readonly moduleState: string;
  };
  const rows: Row[] = modules.flatMap(({ name, state, controllers }) =>
    controllers.map((one) => ({ ...one, module: name, moduleState: state })),
  );
  const numbers: readonly Column<Row>[] = KEY_STATES.map((state) => ({
    title: state,
    kind: "number",
    cell: ({ name, keys }) =>
      keys[state] === 0 ? (
        "0"
      ) : (
        <a href={`/keys?controller=${encodeURIComponent(name)}&state=${state}`}>{keys[state]}</a>
      ),
  }));
  return (
    <Table
      id="controller-table"
      caption="Controllers and their keys"
      rows={rows}
      empty="No module with a controller is loaded."
      columns={[
        {
          title: "Controller",
          cell: ({ name }) => <a href={`/runs?controller=${encodeURIComponent(name)}`}>{name}</a>,
        },
        { title: "Kind", cell: ({ kind }) => (kind === undefined ? "" : kindText(kind)) },
        {
          title: "State",
          cell: ({ state, moduleState }) => (
            <State word={moduleState === "running" || moduleState === "loading" ? state : moduleState} />
          ),
        },
        ...numbers,
        { title: "Why", kind: "long", cell: ({ message }) => message ?? "" },
      ]}
    />
  );
}

function Keys({
  keys,
  now,
  empty,
}: {
  readonly keys: KeysAnswer;
  readonly now: number;
  readonly empty: string;
}): Child {
  const columns: readonly Column<KeyAnswer>[] = [
    {
      title: "State",
      kind: "short",
      cell: ({ state }) => <State word={state} neutral={state === "waiting" || state === "running"} />,
    },
    { title: "Controller", cell: ({ controller }) => controller },
    { title: "Key", cell: (key) => <KeyLink of={key} /> },
    { title: "When", kind: "short", cell: (key) => <KeyTime of={key} now={now} /> },
    { title: "Failures", kind: "number", cell: ({ failures }) => (failures === 0 ? "" : String(failures)) },
    { title: "Reason", kind: "long", cell: ({ reason, causes }) => reason ?? causes.join("; ") },
    {
      title: "",
      kind: "short",
      cell: ({ controller, key, state }) =>
        state === "running" ? "" : <RunAgain controller={controller} keyName={key} />,
    },
  ];
  return <Table id="key-table" caption="Keys" rows={keys.keys} columns={columns} empty={empty} />;
}

export interface KeysPageProps {
  readonly keys: KeysAnswer;
  readonly controllers: readonly string[];
  readonly filter: { readonly state: string; readonly controller: string; readonly key: string };
  readonly now: number;
}

export function KeysPage({ keys, controllers, filter, now }: KeysPageProps): Child {
  const all = ["", "parked,stuck,failing", ...KEY_STATES];
  return (
    <>
      <form class="filters" method="get">
        <label>
          Part of the key
          <input type="search" name="key" value={filter.key} />
        </label>
        <label>
          State
          <select name="state">
            {all.map((state) => (
              <option value={state} selected={state === filter.state}>
                {state === "" ? "all" : state.replaceAll(",", ", ")}
              </option>
            ))}
          </select>
        </label>
        <ControllerChoice controllers={controllers} chosen={filter.controller} />
        <button type="submit">Show</button>
      </form>
      <div id="keys" data-live>
        <p>
          {keys.total === 1 ? "1 key" : `${keys.total} keys`}
          {keys.total > keys.keys.length ? `, of which the ${keys.keys.length} most troubled are shown` : ""}
        </p>
        <Keys keys={keys} now={now} empty="No such key is queued, running or parked." />
      </div>
    </>
  );
}

function ControllerChoice({
  controllers,
  chosen,
}: {
  readonly controllers: readonly string[];
  readonly chosen: string;
}): Child {
  return (
    <label>
      Controller
      <select name="controller">
        {["", ...controllers].map((name) => (
          <option value={name} selected={name === chosen}>
            {name === "" ? "all" : name}
          </option>
        ))}
      </select>
    </label>
  );
}

export interface RunsPageProps {
  readonly runs: readonly RunAnswer[];
  readonly controllers: readonly string[];
  readonly filter: { readonly controller: string; readonly failed: boolean };
  readonly runOf: (id: string) => RunAnswer | undefined;
  readonly now: number;
}

export function RunsPage({ runs, controllers, filter, runOf, now }: RunsPageProps): Child {
  return (
    <>
      <form class="filters" method="get">
        <ControllerChoice controllers={controllers} chosen={filter.controller} />
        <label>
          Result
          <select name="failed">
            <option value="">all</option>
            <option value="true" selected={filter.failed}>
              failed
            </option>
          </select>
        </label>
        <button type="submit">Show</button>
      </form>
      <Timeline runs={runs} runOf={runOf} now={now} empty="No such run is recorded." />
    </>
  );
}

interface TimelineProps extends Pick<RunsPageProps, "runs" | "runOf" | "now"> {
  readonly empty: string;
}

function Timeline({ runs, runOf, now, empty }: TimelineProps): Child {
  return (
    <div id="timeline" data-live>
      {runs.length === 0 ? (
        <p class="soft">{empty}</p>
      ) : (
        <ol class="timeline">
          {runs.map((run) => (
            <RunItem run={run} now={now} runOf={runOf} />
          ))}
        </ol>
      )}
    </div>
  );
}

export interface ObjectsPageProps {
  /** The kinds of which objects are watched. */
  readonly kinds: readonly string[];
  readonly query: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly history?: HistoryAnswer | undefined;
  readonly root?: OwnedAnswer | undefined;
  /** Why there is nothing to show. */
  readonly problem?: string | undefined;
  /** Objects that runs were about lately. */
  readonly recent: readonly ObjectRef[];
  readonly now: number;
}

export function ObjectsPage({ kinds, query, history, root, problem, recent, now }: ObjectsPageProps): Child {
  const search = (
    <form class="filters" method="get">
      <label>
        Kind
        <input name="kind" list="kinds" value={query.kind} required />
        <datalist id="kinds">
          {kinds.map((kind) => (
            <option value={kind}></option>
          ))}
        </datalist>
      </label>
      <label>
        Namespace
        <input name="namespace" value={query.namespace} />
      </label>
      <label>
        Name
        <input name="name" value={query.name} required />
      </label>
      <button type="submit">Show</button>
    </form>
  );
  return (
    <>
      {history === undefined ? (
        search
      ) : (
        <details id="other" class="other">
          <summary>Another object</summary>
          {search}
        </details>
      )}
      {problem === undefined ? "" : <p class="card notice bad">{problem}</p>}
      {history === undefined ? (
        <RecentObjects objects={recent} />
      ) : (
        <OneObject history={history} root={root} now={now} />
      )}
    </>
  );
}

function RecentObjects({ objects }: { readonly objects: readonly ObjectRef[] }): Child {
  return (
    <section id="recent" data-live>
      <h2>Objects of the last runs</h2>
      {objects.length === 0 ? <p class="soft">No run is recorded yet.</p> : ""}
      <ul class="plain">
        {objects.map((object) => (
          <li>
            <ObjectLink object={object} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneObject(props: {
  readonly history: HistoryAnswer;
  readonly root: OwnedAnswer | undefined;
  readonly now: number;
}): Child {
  const { history, root, now } = props;
  const { object, present, controllers, keys, runs, writers, linked } = history;
  const byId = new Map([...runs, ...writers, ...linked].map((run) => [run.id, run]));
  const own = [...runs, ...writers].sort((a, b) => (a.at > b.at ? -1 : 1));
  const [namespace, name] = [object?.namespace, object?.name ?? ""];
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  return (
    <>
      <section id="present" data-live class="card">
        <h2>{object === undefined ? key : objectText(object)}</h2>
        <ul class="troubles">
          {keys.map((one) => (
            <KeyItem of={one} now={now} />
          ))}
          {controllers
            .filter((name) => keys.every(({ controller }) => controller !== name))
            .map((controller) => (
              <li class="row">
                <State word="idle" />
                <strong>{controller}</strong>
                <span class="soft">nothing is queued</span>
                <RunAgain controller={controller} keyName={key} />
              </li>
            ))}
        </ul>
        {present === undefined ? "" : <Conditions conditions={present.conditions} />}
        <p class="soft">
          {present === undefined
            ? "It is in no cache: it does not exist, or nobody watches it."
            : `It exists${present.generation === undefined ? "" : `, generation ${present.generation}`}${present.isDeleting ? ", and is being deleted" : ""}.`}
          {controllers.length === 0 ? " No controller of this process reconciles such objects." : ""}
        </p>
      </section>
      {root === undefined || (root.owned.length === 0 && root.isSubject) ? (
        ""
      ) : (
        <section id="owners" data-live class="card">
          <h2>Owners and children</h2>
          <ul class="tree">
            <OwnedItem owned={root} />
          </ul>
        </section>
      )}
      <h2>Runs, the newest first</h2>
      <Timeline runs={own} runOf={(id) => byId.get(id)} now={now} empty="No run about it is recorded." />
    </>
  );
}

/** What a controller has to do for an object, and what keeps it from that. */
function KeyItem({ of, now }: { readonly of: KeyAnswer; readonly now: number }): Child {
  const { controller, key, state, failures, reason, causes } = of;
  return (
    <li>
      <div class="row">
        <State word={state} neutral={state === "waiting" || state === "running"} />
        <strong>{controller}</strong>
        <span class="soft">
          <KeyTime of={of} now={now} />
          {failures === 0 ? "" : `, ${failures} ${failures === 1 ? "failure" : "failures"} so far`}
        </span>
        {state === "running" ? "" : <RunAgain controller={controller} keyName={key} />}
      </div>
      {reason ?? causes.join("; ")}
    </li>
  );
}

function OwnedItem({ owned }: { readonly owned: OwnedAnswer }): Child {
  const { isSubject, isDeleting, controllers, conditions } = owned;
  return (
    <li>
      {isSubject ? <strong>{objectText(owned)}</strong> : <ObjectLink object={owned} />}{" "}
      {isDeleting ? <span class="badge warn">being deleted</span> : ""}
      {conditions
        .filter(({ type }) => type === "Ready" || type === "Available")
        .map(({ type, status, reason, message }) => (
          <>
            {" "}
            <span class={`badge ${status === "True" ? "good" : "bad"}`}>
              {type} {status}
            </span>{" "}
            {status === "True" ? "" : (message ?? reason ?? "")}
          </>
        ))}{" "}
      {controllers.length === 0 ? "" : <span class="soft">reconciled by {controllers.join(", ")}</span>}
      {owned.owned.length === 0 ? (
        ""
      ) : (
        <ul>
          {owned.owned.map((one) => (
            <OwnedItem owned={one} />
          ))}
        </ul>
      )}
    </li>
  );
}

export function ModulesPage({
  modules: { modules },
  log,
}: {
  readonly modules: ModulesAnswer;
  readonly log: LogLevelsAnswer;
}): Child {
  return (
    <div id="modules" data-live>
      {modules.length === 0 ? <p class="soft">No module is loaded.</p> : ""}
      {modules.map(({ name, file, state, message, errors, reloads, controllers }) => (
        <section class="card" aria-label={name}>
          <div class="row">
            <h2>{name}</h2>
            <State word={state} />
            <span class="soft mono">{file}</span>
            {state === "paused" ? (
              <ActionButton
                id={`resume ${name}`}
                label="Resume"
                action="/debug/resume"
                body={{ module: name }}
                done={`${name} is resumed.`}
                about={name}
              />
            ) : (
              <ActionButton
                id={`pause ${name}`}
                label="Pause"
                action="/debug/pause"
                body={{ module: name }}
                done={`${name} is paused: no run of it begins.`}
                about={name}
              />
            )}
            <label>
              Log level
              <select
                id={`level ${name}`}
                disabled
                data-action="/debug/log-level"
                data-module={name}
                data-done={`The level of ${name} is set.`}
              >
                {["default", ...LOG_LEVELS].map((level) => (
                  <option value={level} selected={level === (log.modules[name] ?? "default")}>
                    {level === "default" ? `as the log: ${log.level}` : level}
                  </option>
                ))}
              </select>
            </label>
          </div>
          {message === undefined ? "" : <p>{message}</p>}
          <p class="soft">
            {reloads.succeeded} reloads, {reloads.failed} failed reloads, {errors} failures outside of runs
          </p>
          <Controllers modules={{ modules: [{ name, file, state, message, errors, reloads, controllers }] }} />
        </section>
      ))}
    </div>
  );
}

export function InformersPage({
  informers: { informers },
  now,
}: {
  readonly informers: InformersAnswer;
  readonly now: number;
}): Child {
  return (
    <div id="informers" data-live>
      <p>
        {informers.length} informers hold {informers.reduce((sum, { objects }) => sum + objects, 0)} objects,{" "}
        {readableSize(informers.reduce((sum, { bytes }) => sum + bytes, 0))} as JSON.
      </p>
      <Table
        id="informer-table"
        caption="Informers, the largest first"
        rows={informers}
        empty="There is no informer."
        columns={[
          { title: "Kind", cell: ({ kind }) => kindText(kind) },
          {
            title: "Selector",
            cell: ({ selector, keep }) =>
              [selector, keep === undefined ? "" : `keeps ${keep || "metadata"}`].join(" ").trim(),
          },
          { title: "State", cell: ({ state }) => <State word={state} /> },
          { title: "Objects", kind: "number", cell: ({ objects }) => String(objects) },
          { title: "Size", kind: "number", cell: ({ bytes }) => readableSize(bytes) },
          { title: "Last event", kind: "short", cell: ({ lastEvent }) => <When at={lastEvent} now={now} /> },
          {
            title: "Relists",
            cell: ({ relists }) =>
              Object.entries(relists)
                .map(([reason, count]) => `${reason} ${count}`)
                .join(", "),
          },
          { title: "Users", cell: ({ users }) => [...new Set(users)].join(", ") },
          { title: "Why", kind: "long", cell: ({ message }) => message ?? "" },
        ]}
      />
    </div>
  );
}

export interface LogPageProps {
  readonly query: Readonly<Record<"level" | "module" | "controller" | "key" | "text", string>>;
  readonly modules: readonly string[];
}

export function LogPage({ query, modules }: LogPageProps): Child {
  const source = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  return (
    <>
      <form class="filters" method="get">
        <label>
          Text
          <input type="search" name="text" value={query.text} />
        </label>
        <label>
          Key
          <input name="key" value={query.key} />
        </label>
        <label>
          Level
          <select name="level">
            {["", ...LOG_LEVELS].map((level) => (
              <option value={level} selected={level === query.level}>
                {level === "" ? "all" : `${level} and above`}
              </option>
            ))}
          </select>
        </label>
        <label>
          Module
          <select name="module">
            {["", ...modules].map((module) => (
              <option value={module} selected={module === query.module}>
                {module === "" ? "all" : module}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Show</button>
      </form>
      <ol class="log" data-source={`/debug/log?${source}`} tabindex={0} aria-label="Lines of the log"></ol>
    </>
  );
}

export interface ProcessPageProps {
  readonly process: ProcessAnswer;
  readonly leases: LeasesAnswer;
  readonly webhooks: WebhooksAnswer;
  readonly now: number;
}

export function ProcessPage({ process, leases, webhooks, now }: ProcessPageProps): Child {
  const { server, memory, history, log } = process;
  const facts: readonly (readonly [string, Child])[] = [
    ["Version", process.version ?? "unknown"],
    ["Replica", `${process.replica}, process ${process.pid}`],
    ["Started", <When at={process.startedAt} now={now} />],
    ["Memory", `${readableSize(memory.used)}${memory.limit === undefined ? "" : ` of ${readableSize(memory.limit)}`}`],
    [
      "Log",
      `${log.level}${Object.entries(log.modules)
        .map(([name, level]) => `, ${name}: ${level}`)
        .join("")}`,
    ],
    [
      "Recorded",
      `${history.runs} runs in ${readableSize(history.bytes)} of ${readableSize(history.limit)}; ${history.dropped} older ones made room`,
    ],
    ["API server", `${server.address}, ${server.isReachable ? "reachable" : "does not answer"}`],
    [
      "Connections",
      `${server.watches} watches on ${server.sessions} connections, ${server.inFlight} requests under way, ${server.protocol}`,
    ],
  ];
  return (
    <div id="process" data-live>
      <ProcessState process={process} />
      <section class="card">
        <h2>This process</h2>
        <dl class="run">
          {facts.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      </section>
      <h2>Leases and shards</h2>
      <Table
        id="lease-table"
        caption="Leases"
        rows={leases.leases}
        empty="This process takes part in no election and no division of the keys."
        columns={[
          { title: "Lease", cell: ({ name }) => name },
          { title: "State", cell: ({ state }) => state },
        ]}
      />
      <h2>Webhooks{webhooks.address === undefined ? "" : ` on ${webhooks.address}`}</h2>
      <Table
        id="webhook-table"
        caption="Webhooks"
        rows={webhooks.webhooks}
        empty="No module has webhooks."
        columns={[
          { title: "Type", cell: ({ type }) => type },
          { title: "Path", cell: ({ path }) => <code>{path}</code> },
          { title: "Name", cell: ({ name }) => name },
        ]}
      />
      <h2>Certificates</h2>
      <Table
        id="certificate-table"
        caption="Certificates"
        rows={webhooks.certificates}
        empty="There is no certificate."
        columns={[
          { title: "Certificate", cell: ({ name }) => name },
          { title: "Expires", cell: ({ expires }) => <When at={expires} now={now} /> },
        ]}
      />
      <h2>Answers of the API server</h2>
      <Table
        id="answer-table"
        caption="Answers by method and status"
        rows={Object.entries(server.answers)}
        empty="The API server has not answered yet."
        columns={[
          { title: "Answer", cell: ([answer]) => answer },
          { title: "Count", kind: "number", cell: ([, count]) => String(count) },
        ]}
      />
    </div>
  );
}
