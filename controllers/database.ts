// An operator for a database: a StatefulSet with its Services, a Secret whose password is generated once, a backup
// every night, and a last backup before everything is deleted. It shows many children, readiness, and a finalizer
// that waits for a Job.
import {
  allow,
  conditions,
  defineController,
  defineResource,
  of,
  type ObjectOf,
  TerminalError,
  watch,
  z,
} from "binnacle";
import { CronJob, Job, Secret, Service, StatefulSet } from "binnacle/resources";
import { affinity, resourceRequirements } from "binnacle/schemas";

const LAST_BACKUP = "demo.binnacle.dev/last-backup-of";

export const Database = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Database",
  spec: z.object({
    version: z.string().default("17"),
    replicas: z.int().min(1).max(5).default(1),
    storage: z.string().default("1Gi"),
    resources: resourceRequirements().optional(),
    affinity: affinity().optional(),
  }),
  status: z.object({ readyReplicas: z.int().optional(), conditions: conditions("Ready", "BackedUp") }),
  rules: [
    { rule: "self.spec.storage == oldSelf.spec.storage", message: "the storage of a database cannot be changed" },
  ],
});
type Database = ObjectOf<typeof Database>;

const labels = ({ metadata }: Database) => ({ "app.kubernetes.io/name": "database", database: metadata.name });
const secretName = ({ metadata }: Database) => `${metadata.name}-credentials`;

const podFor = (database: Database, variable: string, container: object) => {
  const image = `docker.io/library/postgres:${database.spec.version}`;
  const env = [{ name: variable, valueFrom: { secretKeyRef: { name: secretName(database), key: "password" } } }];
  return { containers: [{ name: "postgres", image, env, ...container }] };
};

const serviceFor = (database: Database, name: string, clusterIP?: "None") =>
  of(Service, { metadata: { name }, spec: { clusterIP, selector: labels(database), ports: [{ port: 5432 }] } });

const serverFor = (database: Database) => {
  const { name } = database.metadata;
  const volumeMounts = [{ name: "data", mountPath: "/var/lib/postgresql" }];
  const { resources, affinity, storage } = database.spec;
  const pod = podFor(database, "POSTGRES_PASSWORD", { volumeMounts, resources });
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } };
  return of(StatefulSet, {
    metadata: { name },
    spec: {
      serviceName: `${name}-nodes`,
      replicas: database.spec.replicas,
      selector: { matchLabels: labels(database) },
      template: { metadata: { labels: labels(database) }, spec: { ...pod, affinity } },
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claim }],
    },
  });
};

const backupFor = (database: Database) => {
  const pod = podFor(database, "PGPASSWORD", { args: ["pg_dumpall", "--host", database.metadata.name] });
  return { backoffLimit: 2, template: { spec: { restartPolicy: "Never", ...pod } } };
};

const databaseOf = ({ metadata: { namespace, labels } }: ObjectOf<typeof Job>) => ({
  namespace,
  name: labels![LAST_BACKUP]!,
});

export const database = defineController({
  for: Database,
  owns: [StatefulSet, Service, Secret, CronJob],
  watches: [watch(Job, { labels: LAST_BACKUP, enqueue: (job) => [databaseOf(job)] })],
  uses: [allow(Job, "create")],
  async reconcile(database, { children, client, status }) {
    const { name, namespace } = database.metadata;
    // The password is generated once: an existing Secret keeps its own.
    const known = await client.find(Secret, { namespace, name: secretName(database) });
    const password = known?.data?.["password"] ?? btoa(crypto.randomUUID());
    const { server, backup } = await children.sync({
      credentials: of(Secret, { metadata: { name: secretName(database) }, data: { password } }),
      nodes: serviceFor(database, `${name}-nodes`, "None"),
      service: serviceFor(database, name),
      server: serverFor(database),
      backup: of(CronJob, {
        metadata: { name: `${name}-backup` },
        spec: { schedule: "0 3 * * *", concurrencyPolicy: "Forbid", jobTemplate: { spec: backupFor(database) } },
      }),
    });
    const ready = server.status?.readyReplicas ?? 0;
    const all = ready >= database.spec.replicas;
    const last = backup.status?.lastSuccessfulTime;
    status.set({ readyReplicas: ready });
    status.condition({ type: "Ready", status: all, reason: all ? "AllReady" : "WaitingForReplicas" });
    status.condition({ type: "BackedUp", status: !!last, reason: last ? "Succeeded" : "NoneYet", message: last ?? "" });
  },
  async finalize(database, { client, events, status }) {
    const { name, namespace } = database.metadata;
    const key = { namespace, name: `${name}-last-backup` };
    // This is no child, because it must outlive the database.
    const job =
      (await client.find(Job, key)) ??
      (await client.create(Job, { metadata: { ...key, labels: { [LAST_BACKUP]: name } }, spec: backupFor(database) }));
    const has = (end: string) => job.status?.conditions?.some(({ type, status }) => type === end && status === "True");
    if (has("Failed")) {
      status.condition({ type: "BackedUp", status: false, reason: "LastBackupFailed" });
      throw new TerminalError(`The last backup failed: delete Job ${key.name} to try again`);
    }
    if (!has("Complete")) return { requeueAfter: "1h" }; // the Job's next event comes first
    events.normal("BackedUp", "The last backup is done");
    return undefined;
  },
});
