/** Tests that alerts and dashboards, binnacle's and those that kubebuilder generates, ask for what `/metrics` has. */
import { describe, expect, test } from "bun:test";
import { ALERTS } from "../../src/cli/deploy/monitoring/alerts.ts";
import { dashboards } from "../../src/cli/deploy/monitoring/dashboards.ts";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { FAULTS, greetingOf } from "./faults.ts";
import { KUBEBUILDER_QUERIES } from "./kubebuilder-queries.ts";
import { groupingOf, metricsIn } from "./queries.ts";
import { labelsPublished } from "./published-labels.ts";
import { OPERATOR } from "./scraped-series.ts";
import { stageOf } from "./stage.ts";

/** Labels that Prometheus itself and a ServiceMonitor add. */
const OF_TARGETS = ["namespace", "job", "pod", "instance", "container"];
/** Metrics that Prometheus itself has. */
const OF_PROMETHEUS = new Set(["up"]);

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
  readonly panels: readonly { readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[] }[];
}

/** The queries of binnacle's own dashboards, with the labels of their legends. */
function ownQueries(): (readonly [string, readonly string[]])[] {
  return dashboards({ account: OPERATOR }).flatMap((one) => {
    const [text] = Object.values((one as { readonly data: Readonly<Record<string, string>> }).data);
    const { templating, panels } = JSON.parse(text!) as Dashboard;
    const variables = templating.list.flatMap(({ query }) => (typeof query === "string" ? [] : [query.query]));
    const targets = panels.flatMap((panel) => panel.targets);
    return [
      ...variables.map((query) => [query, []] as const),
      ...targets.map(({ expr, legendFormat }) => {
        return [expr, [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)] as const;
      }),
    ];
  });
}

describe.skipIf(!available)("metrics", () => {
  test("are there for every query of alerts and dashboards, with every label", async () => {
    await using cleanup = new AsyncDisposableStack();
    const cluster = cleanup.use(await Cluster.start());
    const bench = cleanup.use(await Bench.create());
    const wanted = ["healthy", "conversion", "parked"];
    const replicas: Operator[] = [];
    for (const name of wanted) {
      const stage = stageOf({ name, cluster, bench });
      const run = await FAULTS.find((fault) => fault.name === name)!.provoke({ ...stage, cleanup });
      for (const replica of run.replicas) replicas.push(cleanup.use(replica));
    }
    const shards = stageOf({ name: "shards", cluster, bench });
    const args = ["--shards=1", "--leader-election-id=shards", "--leader-election-namespace=default"];
    replicas.push(cleanup.use(await shards.start({ files: greetingOf("shards"), args })));
    const queries = [...ALERTS.map(({ expr }) => [expr(""), []] as const), ...ownQueries(), ...KUBEBUILDER_QUERIES];
    let last: readonly string[] = [];
    await until(
      async () => {
        const texts = await Promise.all(replicas.map((replica) => replica.metrics().catch(() => "")));
        const published = labelsPublished(texts);
        const absent = queries.flatMap(([query, legend]) => {
          expect(metricsIn(query).size, query).toBeGreaterThan(0);
          // A grouping is about the operand that it stands in.
          const operands = query.split(/ (?:or|unless|\/) /).map((expr) => ({ expr, metrics: metricsIn(expr) }));
          return operands.flatMap(({ expr, metrics }) =>
            [...metrics].flatMap(([metric, selecting]) => {
              if (OF_PROMETHEUS.has(metric)) return [];
              const labels = published.get(metric);
              if (labels === undefined) return [metric];
              if (labels === "no series yet") return [];
              const needed = [...selecting, ...groupingOf(expr), ...legend].filter(
                (label) => !OF_TARGETS.includes(label),
              );
              return needed.filter((label) => !labels.has(label)).map((label) => `${metric}{${label}}`);
            }),
          );
        });
        last = [...new Set(absent)];
        return last.length === 0;
      },
      { what: () => `nothing publishes ${last.join(", ")}`, every: 200 },
    );
  });
});
