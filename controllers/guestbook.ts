// A Guestbook becomes a Deployment and, if it is exposed, a Service. It shows a new kind, children, status and a
// finalizer.
import { conditions, defineController, defineResource, of, z, type ObjectOf } from "binnacle";
import { Deployment, Service } from "binnacle/resources";

export const Guestbook = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Guestbook",
  spec: z.object({
    message: z.string().min(1),
    replicas: z.int().min(0).max(10).default(1),
    expose: z.boolean().default(true),
  }),
  status: z.object({ readyReplicas: z.int().optional(), conditions: conditions("Ready") }),
  columns: [
    { name: "Replicas", type: "integer", path: ".spec.replicas" },
    { name: "Ready", type: "string", path: '.status.conditions[?(@.type=="Ready")].status' },
  ],
  rules: [{ rule: "!self.spec.expose || self.spec.replicas > 0", message: "an exposed guestbook needs a replica" }],
});
type Guestbook = ObjectOf<typeof Guestbook>;

const labels = (guestbook: Guestbook) => ({
  "app.kubernetes.io/name": "guestbook",
  guestbook: guestbook.metadata.name,
});

const deploymentFor = (guestbook: Guestbook) =>
  of(Deployment, {
    metadata: { name: guestbook.metadata.name, labels: labels(guestbook) },
    spec: {
      replicas: guestbook.spec.replicas,
      selector: { matchLabels: labels(guestbook) },
      template: {
        metadata: { labels: labels(guestbook) },
        spec: {
          containers: [
            {
              name: "web",
              image: "registry.k8s.io/e2e-test-images/agnhost:2.47",
              args: ["netexec", "--http-port=8080"],
              env: [{ name: "MESSAGE", value: guestbook.spec.message }],
              ports: [{ name: "http", containerPort: 8080 }],
            },
          ],
        },
      },
    },
  });

const serviceFor = (guestbook: Guestbook) =>
  of(Service, {
    metadata: { name: guestbook.metadata.name, labels: labels(guestbook) },
    spec: { selector: labels(guestbook), ports: [{ name: "http", port: 80, targetPort: "http" }] },
  });

export const guestbook = defineController({
  for: Guestbook,
  owns: [Deployment, Service],
  async reconcile(guestbook, { children, status }) {
    const { deployment } = await children.sync({
      deployment: deploymentFor(guestbook),
      service: guestbook.spec.expose ? serviceFor(guestbook) : undefined,
    });
    const ready = deployment.status?.readyReplicas ?? 0;
    const complete = ready === guestbook.spec.replicas;
    status.set({ readyReplicas: ready });
    status.condition({
      type: "Ready",
      status: complete,
      reason: complete ? "AllReady" : "WaitingForReplicas",
      message: `${ready} of ${guestbook.spec.replicas} replicas are ready`,
    });
  },
  // The presence of this function adds a finalizer. Children need none: they have an owner reference and are deleted
  // with it.
  async finalize(guestbook, { events, log }) {
    log.info("The guestbook closes", { message: guestbook.spec.message });
    events.normal("Closed", "The guestbook was closed");
  },
});
