/** @jsxImportSource hono/jsx */
/** Serves the dashboard: pages that the server renders, in which a small script replaces what has changed. */
import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import type { Child } from "hono/jsx";
import type { ObjectRef } from "../../history/run-answer.ts";
import { type DebugSource, type KeyFilter, NotKnown } from "../debug/debug-app.ts";
import { guard } from "../debug/debug-guard.ts";
import { KEY_STATES, type KeyStateName } from "../debug/answers.ts";
import { PART } from "./browser-script.ts";
import { Layout, type PagePath, pages } from "./layout.tsx";
import {
  InformersPage,
  KeysPage,
  LogPage,
  ModulesPage,
  ObjectsPage,
  Overview,
  ProcessPage,
  RunsPage,
} from "./pages.tsx";
import { kindText } from "./parts.tsx";

/** The most keys and runs of one page. */
const MOST_KEYS = 200;
const MOST_TROUBLED = 10;
const MOST_RUNS = 50;
const MOST_RECENT = 30;
const TROUBLED: readonly KeyStateName[] = ["parked", "stuck", "failing"];

/** Makes the app, which shows what the source knows; each request's environment is its connection. */
export function dashboardApp(source: DebugSource): Hono {
  const app = new Hono({ strict: false });
  const page = (path: PagePath, content: (context: Context, now: number) => Child | Promise<Child>): void => {
    app.get(path, guard, async (context) => {
      // The page itself asks for what has changed: of another style than its own its policy would complain.
      if (context.req.header(PART) !== undefined)
        return context.html(<main>{await content(context, Date.now())}</main>);
      const nonce = randomBytes(16).toString("base64");
      const { title } = pages.find((one) => one.path === path)!;
      const { replica } = await source.process();
      context.header(
        "Content-Security-Policy",
        `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      );
      const body = await content(context, Date.now());
      return context.html(
        <Layout path={path} title={title} replica={replica} nonce={nonce}>
          {body}
        </Layout>,
      );
    });
  };
  const controllers = (): readonly string[] =>
    source.modules().modules.flatMap((module) => module.controllers.map(({ name }) => name));

  page("/", async (_context, now) => (
    <Overview
      process={await source.process()}
      modules={source.modules()}
      troubled={source.keys({ states: TROUBLED, limit: MOST_TROUBLED })}
      seconds={source.overview()}
      now={now}
    />
  ));
  page("/keys", (context, now) => {
    const filter = { state: ask(context, "state"), controller: ask(context, "controller"), key: ask(context, "key") };
    return <KeysPage keys={source.keys(keyFilter(filter))} controllers={controllers()} filter={filter} now={now} />;
  });
  page("/runs", (context, now) => {
    const filter = { controller: ask(context, "controller"), failed: ask(context, "failed") === "true" };
    const { runs } = source.runs({
      controller: filter.controller || undefined,
      failed: filter.failed,
      limit: MOST_RUNS,
    });
    return (
      <RunsPage runs={runs} controllers={controllers()} filter={filter} runOf={(id) => source.run(id)} now={now} />
    );
  });
  page("/objects", (context, now) => {
    const query = { kind: ask(context, "kind"), namespace: ask(context, "namespace"), name: ask(context, "name") };
    const kinds = [...new Set(source.informers().informers.map(({ kind }) => kindText(kind)))].sort();
    const around = { kinds, query, now, recent: recentObjects(source) };
    if (query.kind === "" || query.name === "") return <ObjectsPage {...around} />;
    const object = { kind: query.kind, name: query.name, namespace: query.namespace || undefined };
    try {
      const history = source.history({ ...object, limit: MOST_RUNS });
      const root = history.present === undefined ? undefined : source.owners(object).root;
      return <ObjectsPage {...around} history={history} root={root} />;
    } catch (error) {
      if (!(error instanceof NotKnown)) throw error;
      return <ObjectsPage {...around} problem={error.message} />;
    }
  });
  page("/modules", async () => <ModulesPage modules={source.modules()} log={(await source.process()).log} />);
  page("/informers", (_context, now) => <InformersPage informers={source.informers()} now={now} />);
  page("/log", (context) => (
    <LogPage
      query={{
        level: ask(context, "level"),
        module: ask(context, "module"),
        controller: ask(context, "controller"),
        key: ask(context, "key"),
        text: ask(context, "text"),
      }}
      modules={source.modules().modules.map(({ name }) => name)}
    />
  ));
  page("/process", async (_context, now) => (
    <ProcessPage process={await source.process()} leases={source.leases()} webhooks={source.webhooks()} now={now} />
  ));
  return app;
}

function ask(context: Context, name: string): string {
  return context.req.query(name) ?? "";
}

function keyFilter({
  state,
  controller,
  key,
}: {
  readonly state: string;
  readonly controller: string;
  readonly key: string;
}): KeyFilter {
  const states = state.split(",").filter((one): one is KeyStateName => KEY_STATES.includes(one as KeyStateName));
  return {
    states: states.length === 0 ? undefined : states,
    controller: controller || undefined,
    text: key || undefined,
    limit: MOST_KEYS,
  };
}

function recentObjects(source: DebugSource): readonly ObjectRef[] {
  const objects = new Map<string, ObjectRef>();
  for (const { object } of source.runs({ failed: false, limit: 1_000 }).runs) {
    if (object !== undefined) objects.set(`${object.group} ${object.kind} ${object.namespace} ${object.name}`, object);
    if (objects.size >= MOST_RECENT) break;
  }
  return [...objects.values()];
}
