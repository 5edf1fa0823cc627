/** The process under test: five controllers, whose parent asks for their state and stops them. */
import { defineController, type Definition } from "binnacle";
import { ConfigMap, Lease, Secret, ServiceAccount } from "binnacle/resources";
import { generateHeapSnapshot } from "bun";
import { heapStats } from "bun:jsc";
import { InformerRegistry, type InformerLease } from "../../src/cache/informer-registry.ts";
import { alwaysLeader } from "../../src/client/leadership.ts";
import { DefinedKinds } from "../../src/controller/defined-kinds.ts";
import { FinalizerClaims } from "../../src/controller/finalizer-claims.ts";
import { startController, type RunningController } from "../../src/controller/controller.ts";
import { RunTurns } from "../../src/controller/run-turns.ts";
import type { Runtime } from "../../src/controller/runtime.ts";
import { EventRecorder } from "../../src/events/recorder.ts";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { RestMapper } from "../../src/kube/api/mapper.ts";
import { createTransport } from "../../src/kube/transport/transport.ts";
import { collectDefinitions } from "../../src/module/module-definitions.ts";
import { createLog } from "../../src/observe/log.ts";
import { createMetrics } from "../../src/observe/metrics.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { AnyObject, Resource } from "../../src/resource/handle.ts";
import { compareVersions, keyString } from "../../src/resource/meta.ts";
import { runSettings } from "../../src/settings/run-options.ts";
import { Box } from "../support/integration/lab.ts";
import type { Answer, Question, Usage } from "./protocol.ts";

const kinds: readonly Resource[] = [ConfigMap, Secret, ServiceAccount, Lease, Box];

/** The version of each object, by kind and key, that a run last saw; for boxes the generation. */
const reconciled = new Map<string, Map<string, string>>();
const backwards: string[] = [];

function saw(kind: string, object: AnyObject): void {
  const { generation, resourceVersion } = object.metadata;
  reconciled.get(kind)!.set(keyString(object.metadata), kind === "Box" ? String(generation) : resourceVersion);
}

function definitions(): readonly Definition[] {
  return kinds.map((kind) => {
    reconciled.set(kind.kind, new Map());
    if (kind === Box) {
      return defineController({
        for: Box,
        async reconcile(box, { status }) {
          status.set({ turn: box.spec.turn });
          await status.flush();
          saw("Box", box);
        },
      });
    }
    return defineController({
      for: kind,
      async reconcile(object) {
        saw(kind.kind, object);
      },
    });
  });
}

/** Records every object that a handler sees in an older state than before. */
function watchOrder(lease: InformerLease): void {
  const { kind } = lease.informer.resource;
  const seen = new Map<string, string>();
  const look = ({ metadata: { uid, name, resourceVersion } }: AnyObject): void => {
    const before = seen.get(uid);
    if (before !== undefined && compareVersions(resourceVersion, before) < 0) {
      backwards.push(`${kind} ${name}: ${before} → ${resourceVersion}`);
    }
    seen.set(uid, resourceVersion);
  };
  lease.informer.addHandler(
    {
      onAdd: look,
      onUpdate: look,
      onDelete: ({ metadata }) => {
        seen.delete(metadata.uid);
        reconciled.get(kind)!.delete(keyString(metadata));
      },
    },
    { name: "order" },
  );
}

const before = JSON.stringify(process.getActiveResourcesInfo());
const log = createLog({ level: "error", format: "json" });
const metrics = createMetrics();
const transport = createTransport(await loadKubeconfig({ kubeconfig: process.argv[2]!, env: {} }));
const mapper = new RestMapper(transport);
const informers = new InformerRegistry({ transport, mapper, log });
const events = new EventRecorder({
  transport,
  gate: alwaysLeader,
  clock: systemClock,
  log,
  metrics,
  instance: "soak",
});
const runtime: Runtime = {
  transport,
  mapper,
  informers,
  events,
  finalizers: new FinalizerClaims({ clock: systemClock, log }),
  definedKinds: new DefinedKinds(),
  turns: new RunTurns(),
  leadership: alwaysLeader,
  clock: systemClock,
  log,
  metrics,
  settings: runSettings(),
  warnUndeclared: false,
};
const controllers: RunningController[] = collectDefinitions(definitions()).controllers.map((definition) =>
  startController(definition, runtime, { module: "soak", invoke: (call) => call() }),
);
const leases = kinds.map((kind) =>
  informers.acquire(kind, { namespaces: [], needs: { bodies: "all", managers: [] }, user: "soak" }),
);
for (const lease of leases) watchOrder(lease);

/** Returns the live memory, and separately the compiled code, which keeps growing for a while. */
async function usage(): Promise<Usage> {
  Bun.gc(true);
  const { heapSize } = heapStats();
  Bun.shrink();
  await Bun.sleep(50); // this happens between two turns
  Bun.gc(true);
  const { heapSize: heap } = heapStats();
  return { heap, code: heapSize - heap, resident: process.memoryUsage().rss };
}

/** Returns the content of the heap: bytes by class of object. */
function bytesByClass(): Readonly<Record<string, number>> {
  const { nodes, nodeClassNames } = generateHeapSnapshot();
  const bytes: Record<string, number> = {};
  // Each node has four numbers: id, bytes, class, flags.
  for (let at = 0; at < nodes.length; at += 4) {
    const name = nodeClassNames[nodes[at + 2]!]!;
    bytes[name] = (bytes[name] ?? 0) + nodes[at + 1]!;
  }
  return bytes;
}

async function answer(question: Question): Promise<Answer> {
  switch (question) {
    case "usage":
      return { usage: await usage() };
    case "classes":
      return { classes: bytesByClass() };
    case "state":
      return {
        state: {
          stores: Object.fromEntries(
            leases.map(({ informer }) => [
              informer.resource.kind,
              Object.fromEntries(
                Array.from(informer.store.entries(), ([key, { metadata }]) => [
                  key,
                  { version: metadata.resourceVersion, uid: metadata.uid },
                ]),
              ),
            ]),
          ),
          reconciled: Object.fromEntries(Array.from(reconciled, ([kind, keys]) => [kind, Object.fromEntries(keys)])),
          relists: Object.fromEntries(leases.map(({ informer }) => [informer.resource.kind, informer.relists])),
          backwards,
          synced: controllers.every(({ hasSynced }) => hasSynced),
        },
      };
    default: {
      await Promise.all(controllers.map((controller) => controller.stop({ grace: 5_000 })));
      await events.close();
      for (const lease of leases) lease.release();
      await informers.stop();
      await transport.close();
      return { stopped: { before, after: JSON.stringify(process.getActiveResourcesInfo()) } };
    }
  }
}

process.on("message", (question: Question) => {
  void answer(question).then((reply) => {
    process.send!(reply);
    // Now only the parent's questions keep this process alive.
    if (question === "stop") process.disconnect?.();
  });
});
process.send!({ ready: true } satisfies Answer);
