/** Services: their Endpoints and EndpointSlices, as pods come, get ready, and go. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Stage, Until } from "../stage.ts";
import { deployment, isComplete, pod, template } from "../workloads.ts";

const service = (spec: Loose = {}, metadata: Loose = {}): Loose => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", ...metadata },
  spec: { selector: { app: "web" }, ports: [{ port: 80 }], ...spec },
});

/** So many addresses, ready or not, are in the slices and in the Endpoints. */
const shows =
  (ready: number, notReady = 0): Until =>
  (stage) => {
    const endpoints = stage.list("EndpointSlice").flatMap((slice) => slice.endpoints ?? []);
    const subsets = stage.find("Endpoints", "web")?.subsets ?? [];
    const count = (field: string): number =>
      new Set(subsets.flatMap((subset: Loose) => subset[field] ?? []).map(({ ip }: Loose) => ip)).size;
    const readyEndpoints = endpoints.filter(({ conditions }: Loose) => conditions.ready);
    return (
      readyEndpoints.length === ready &&
      endpoints.length - readyEndpoints.length === notReady &&
      count("addresses") === ready &&
      count("notReadyAddresses") === notReady
    );
  };

const empty: Until = (stage) =>
  stage.list("EndpointSlice").length === 1 &&
  stage.find("Endpoints", "web") !== undefined &&
  (stage.find("Endpoints", "web").subsets ?? []).length === 0;

const never = { "pods.binnacle.dev/ready-after": "never" };
const named = {
  spec: { containers: [{ name: "web", image: "web:1", ports: [{ name: "http", containerPort: 8080 }] }] },
};

const options = { sequence: false } as const;

/** A service, and pods made one after the other. */
async function begin(stage: Stage, spec: Loose, ...pods: readonly Loose[]): Promise<void> {
  await stage.apply(service(spec));
  for (const one of pods) await stage.create(one);
}

export const services: readonly Situation[] = [
  situation(
    "service: without pods",
    async (stage) => {
      await stage.apply(service());
      await stage.settle("nothing behind it", empty);
    },
    options,
  ),
  situation(
    "service: pods come and go",
    async (stage) => {
      await begin(stage, {}, pod("one", "web"), pod("two", "web"));
      await stage.settle("two", shows(2));
      await stage.delete("Pod", "one");
      await stage.settle("one", shows(1));
      await stage.delete("Pod", "two");
      await stage.settle("nothing behind it", empty);
    },
    options,
  ),
  situation(
    "service: a pod that is not ready",
    async (stage) => {
      await begin(stage, {}, pod("one", "web"), pod("two", "web", { annotations: never }));
      await stage.settle("one of two", shows(1, 1));
      await stage.patch("Pod", "two", {
        metadata: { annotations: { "pods.binnacle.dev/ready-after": "0s" } },
      });
      await stage.settle("both", shows(2));
    },
    options,
  ),
  situation(
    "service: publishes pods that are not ready",
    async (stage) => {
      await begin(stage, { publishNotReadyAddresses: true }, pod("two", "web", { annotations: never }));
      await stage.settle("all the same", shows(1));
    },
    options,
  ),
  situation(
    "service: headless",
    async (stage) => {
      const spec = { hostname: "one", subdomain: "web" };
      await begin(stage, { clusterIP: "None" }, pod("one", "web", { spec }), pod("two", "web"));
      await stage.settle("two", shows(2));
    },
    options,
  ),
  situation(
    "service: headless without ports",
    async (stage) => {
      await begin(stage, { clusterIP: "None", ports: null }, pod("one", "web"));
      await stage.settle("one", shows(1));
    },
    options,
  ),
  situation(
    "service: a port by its name",
    async (stage) => {
      const ports = [{ name: "main", port: 80, targetPort: "http" }];
      await begin(stage, { ports }, pod("one", "web", named), pod("two", "web"));
      // In the slices the pod without the port is an endpoint without ports.
      await stage.settle("only where there is one", (now) => {
        const endpoints = now.list("EndpointSlice").flatMap((slice) => slice.endpoints ?? []);
        return endpoints.length === 2 && now.find("Endpoints", "web")?.subsets?.[0]?.addresses?.length === 1;
      });
    },
    options,
  ),
  situation(
    "service: two ports",
    async (stage) => {
      const ports = [
        { name: "a", port: 80, targetPort: 8080, appProtocol: "http" },
        { name: "b", port: 53, protocol: "UDP" },
      ];
      await begin(stage, { ports }, pod("one", "web"));
      await stage.settle("both", shows(1));
    },
    options,
  ),
  situation(
    "service: its labels and its selector change",
    async (stage) => {
      await begin(stage, {}, pod("one", "web"), pod("other", "other"));
      await stage.settle("one", shows(1));
      await stage.patch("Service", "web", { metadata: { labels: { tier: "front" } } });
      await stage.settle("labelled", (now) => now.find("Endpoints", "web").metadata.labels?.tier === "front");
      await stage.patch("Service", "web", { spec: { selector: { app: "other" } } });
      await stage.settle("the other pod", (now) =>
        now.find("Endpoints", "web").subsets?.some((subset: Loose) => subset.addresses?.[0].targetRef.name === "other"),
      );
      await stage.patch("Pod", "other", { metadata: { labels: { app: "nobody" } } });
      await stage.settle("nothing behind it", empty);
    },
    options,
  ),
  situation(
    "service: a new port",
    async (stage) => {
      await begin(stage, {}, pod("one", "web"));
      await stage.settle("one", shows(1));
      await stage.patch("Service", "web", { spec: { ports: [{ port: 90, protocol: "TCP" }] } });
      await stage.settle("at the new port", (now) => now.find("Endpoints", "web").subsets?.[0]?.ports[0].port === 90);
    },
    options,
  ),
  situation(
    "service: without a selector",
    async (stage) => {
      await stage.create(service({ selector: null }));
      await stage.settle("nobody looks for pods", undefined, { quiet: 1_000 });
    },
    options,
  ),
  situation(
    "service: Endpoints made by hand",
    async (stage) => {
      await stage.create(service({ selector: null }));
      await stage.create({
        apiVersion: "v1",
        kind: "Endpoints",
        metadata: { name: "web", labels: { made: "by-hand" }, annotations: { a: "note" } },
        subsets: [
          { addresses: [{ ip: "192.0.2.1" }], notReadyAddresses: [{ ip: "192.0.2.2" }], ports: [{ port: 80 }] },
        ],
      });
      await stage.settle("mirrored", shows(1, 1));
      await stage.patch("Endpoints", "web", {
        subsets: [{ addresses: [{ ip: "192.0.2.1" }, { ip: "192.0.2.3" }], ports: [{ port: 81 }] }],
      });
      await stage.settle("mirrored again", shows(2));
      await stage.delete("Endpoints", "web");
      await stage.settle("no mirror", (now) => now.list("EndpointSlice").length === 0);
    },
    options,
  ),
  situation(
    "service: deleted",
    async (stage) => {
      await begin(stage, {}, pod("one", "web"));
      await stage.settle("one", shows(1));
      await stage.delete("Service", "web");
      await stage.settle(
        "gone",
        (now) => now.find("Endpoints", "web") === undefined && now.list("EndpointSlice").length === 0,
      );
    },
    options,
  ),
  situation(
    "service: of another name",
    async (stage) => {
      await stage.create(service({ type: "ExternalName", externalName: "example.com", ports: undefined }));
      await stage.create(pod("one", "web"));
      await stage.settle("nobody looks for pods", undefined, { quiet: 1_000 });
    },
    options,
  ),
  situation(
    "service: a pod that stops slowly still serves",
    async (stage) => {
      const annotations = { "pods.binnacle.dev/stops-after": "8s" };
      await begin(stage, {}, pod("one", "web", { annotations }));
      await stage.settle("one", shows(1));
      await stage.delete("Pod", "one");
      await stage.settle("it leaves", (now) =>
        now
          .list("EndpointSlice")
          .some(({ endpoints = [] }) => endpoints?.some(({ conditions }: Loose) => conditions.terminating)),
      );
      await stage.settle("nothing behind it", empty);
    },
    options,
  ),
  situation(
    "service: a hundred and twenty pods",
    async (stage) => {
      await stage.apply(service(), deployment("web", { replicas: 120, template: template("web") }));
      await stage.settle("all", (now) => isComplete("web")(now) && shows(120)(now), { within: 60_000 });
      // Which of the pods is where, chance decides.
      const sizes = stage.list("EndpointSlice").map(({ endpoints }) => endpoints.length);
      stage.snapshots.pop();
      const chunks = { slices: sizes.length, most: Math.max(...sizes) <= 100 };
      await stage.apply({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "found" },
        data: { found: JSON.stringify(chunks) },
      });
    },
    { ...options, events: false },
  ),
];
