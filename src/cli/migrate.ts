/** `binnacle migrate` */
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { printable } from "../observe/printable.ts";
import { isTerminal } from "../observe/terminal.ts";
import { sleep } from "../platform/clock.ts";
import { type Command, command, type Host } from "./command.ts";
import {
  type CustomDefinition,
  findDefinition,
  isMigrated,
  MANAGER,
  storageVersion,
} from "./migration/custom-definition.ts";
import { migrate, type MigrationResult } from "./migration/migration.ts";
import { count, ProgressBar } from "./migration/progress-bar.ts";
import { contextOption, kubeconfigOption } from "./shared-options.ts";
import { whenSignalled } from "./signals.ts";
import { UsageError, UserError } from "./usage-error.ts";

const STANDARD_ERROR = 2;
/** Some API servers may not know a younger definition yet, and still store objects in the previous version. */
const SETTLED_AFTER = 60_000;
/** The time to wait, in milliseconds. */
const SETTLING = 5_000;

export const migrateCommand: Command = command({
  options: [
    {
      name: "kind",
      type: "string",
      positional: true,
      describe: "Kind, such as Guestbook or guestbooks.demo.example.com",
    },
    kubeconfigOption,
    contextOption,
    { name: "page-size", type: "number", default: 500, describe: "How many objects are listed at a time" },
    { name: "concurrency", type: "number", default: 8, describe: "How many objects are rewritten at the same time" },
    {
      name: "dry-run",
      type: "boolean",
      default: false,
      describe: "Ask the API server which objects it would refuse, and change nothing",
    },
  ],
  async run({ kind, kubeconfig, context, "page-size": pageSize, concurrency, "dry-run": dryRun }, host) {
    if (kind === undefined) throw new UsageError("Say which kind to migrate, such as `binnacle migrate Guestbook`");
    const cluster = await loadKubeconfig({ kubeconfig, context, env: host.env });
    await using transport = createTransport(cluster, { userAgent: `binnacle/${host.embedded.version} migrate` });
    const stopping = new AbortController();
    void whenSignalled(() => stopping.abort(new UserError("Interrupted"))).catch(() => {});
    const definition = await findDefinition(transport, kind);
    refuseLosses(definition);
    if (!dryRun && !isMigrated(definition)) await settled(definition, { host, signal: stopping.signal });
    const bar = new ProgressBar({ isTerminal: isTerminal(STANDARD_ERROR), write: host.err });
    const result = await migrate({
      transport,
      definition,
      pageSize,
      concurrency,
      dryRun,
      signal: stopping.signal,
      onProgress: ({ done, total }) => bar.show(done, total),
    }).finally(() => bar.clear());
    return tell(result, { definition, dryRun, host });
  },
});

/** Without a webhook the server changes only `apiVersion` and drops fields that the storage version does not know. */
function refuseLosses({ metadata, spec }: CustomDefinition): void {
  if (spec.versions.length < 2 || spec.conversion?.strategy === "Webhook") return;
  const schemas = new Set(spec.versions.map(({ schema }) => JSON.stringify(schema?.openAPIV3Schema)));
  if (schemas.size === 1) return;
  throw new UserError(
    `Cannot migrate ${metadata.name}: its versions differ, and no conversion webhook converts between them, so that fields would be ` +
      "lost. Run the controllers that define the kind with --install-crds and a webhook address first",
  );
}

/** A definition that was just changed may not have reached every API server yet. */
async function settled(
  definition: CustomDefinition,
  { host, signal }: { readonly host: Host; readonly signal: AbortSignal },
): Promise<void> {
  const times = (definition.metadata.managedFields ?? [])
    .filter(({ manager, subresource }) => manager !== MANAGER && subresource === undefined)
    .map(({ time }) => Date.parse(time ?? ""))
    .filter((time) => !Number.isNaN(time));
  if (Math.abs(Date.now() - Math.max(...times, 0)) > SETTLED_AFTER) return;
  host.err(`The definition was written a moment ago: waiting ${SETTLING / 1_000} s, until every API server knows it\n`);
  await sleep(SETTLING, { signal });
}

function tell(
  { done, failed, failures, interrupted, managersMoved, storedVersions }: MigrationResult,
  {
    definition,
    dryRun,
    host,
  }: { readonly definition: CustomDefinition; readonly dryRun: boolean; readonly host: Host },
): number {
  const name = printable(definition.metadata.name);
  const storage = printable(storageVersion(definition));
  for (const { object, message } of failures) host.err(`error: ${printable(`${object}: ${message}`)}\n`);
  if (failed > failures.length) host.err(`error: and ${count(failed - failures.length)} more\n`);
  if (failed > 0) {
    host.err(
      `binnacle: Cannot migrate ${count(failed)} of ${count(done)} objects of ${name}: fix them, or whatever rejects them, and run this ` +
        "again; it continues with the first of them\n",
    );
    return 1;
  }
  if (interrupted) {
    host.err(`binnacle: Interrupted after ${count(done)} objects of ${name}: run this again to continue from there\n`);
    return 1;
  }
  const stored = `All ${count(done)} objects of ${name} ${dryRun ? "can be" : "are"} stored in ${storage}`;
  const managers = `managers in versions that are not served ${dryRun ? "would be" : "were"} moved to it on ${count(managersMoved)}`;
  const parts = [
    ...(isMigrated(definition) ? [] : [`storedVersions is ${printable(storedVersions.join(", "))}`]),
    ...(managersMoved === 0 ? [] : [managers]),
  ];
  host.out(`${stored}${parts.length === 0 ? ": nothing to do" : `; ${parts.join("; ")}`}\n`);
  return 0;
}
