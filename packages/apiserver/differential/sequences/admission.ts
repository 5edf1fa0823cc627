/** What kube-apiserver's own admission plugins add and reject. */
import type { Case } from "../case.ts";
import type { Loose, Session } from "../session.ts";

export const pod = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "a", image: "a:1" }], ...spec },
});

const withResources = (name: string, resources: object, more: object = {}): object =>
  pod(name, { containers: [{ name: "a", image: "a:1", resources }], ...more });

const claim = (name: string, storage: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more },
});

export async function sendAll(session: Session, path: string, bodies: Readonly<Record<string, object>>): Promise<void> {
  for (const [label, body] of Object.entries(bodies)) await session.post(label, path, body);
}

const limitRanges: Case = {
  name: "admission by limit ranges",
  run: async (session) => {
    const path = await session.createNamespace();
    const range = async (name: string, limits: readonly object[]): Promise<void> => {
      const body = { apiVersion: "v1", kind: "LimitRange", metadata: { name }, spec: { limits } };
      await session.post(`range ${name}`, `${path}/limitranges`, body);
      await session.noticed(150);
    };
    await range("defaults", [
      { type: "Container", default: { cpu: "500m", memory: "1Gi" }, defaultRequest: { cpu: "0.1" }, max: { cpu: "2" } },
    ]);
    await sendAll(session, `${path}/pods`, {
      "nothing said": pod("none"),
      "something said": withResources("some", { requests: { cpu: "200m" }, limits: { memory: "2Gi" } }),
      "two containers and an init container": pod("many", {
        containers: [
          { name: "a", image: "a:1" },
          { name: "b", image: "b:1", resources: { limits: { cpu: "1" } } },
        ],
        initContainers: [{ name: "i", image: "i:1" }],
        restartPolicy: "Never",
      }),
      "too much": withResources("much", { limits: { cpu: "3" } }),
      "more than its limit": withResources("more", { requests: { cpu: "3" } }),
    });
    await session.patch("update", `${path}/pods/none`, { metadata: { labels: { a: "b" } } });
    await session.quietly("DELETE", `${path}/limitranges/defaults`);
    await range("minimum", [{ type: "Container", min: { memory: "64Mi" } }]);
    await sendAll(session, `${path}/pods`, {
      "no request": pod("no-request"),
      "too small a request": withResources("small", { requests: { memory: "32Mi" } }),
      enough: withResources("enough", { requests: { memory: "0.125Gi" } }),
    });
    await session.quietly("DELETE", `${path}/limitranges/minimum`);
    await range("ratio", [{ type: "Container", maxLimitRequestRatio: { cpu: "2" } }]);
    await sendAll(session, `${path}/pods`, {
      "no ratio": pod("no-ratio"),
      "too wide a ratio": withResources("wide", { requests: { cpu: "100m" }, limits: { cpu: "300m" } }),
      "no limit": withResources("no-limit", { requests: { cpu: "100m" } }),
    });
    await session.quietly("DELETE", `${path}/limitranges/ratio`);
    await range("pods", [{ type: "Pod", max: { cpu: "1" }, min: { cpu: "200m" } }]);
    await sendAll(session, `${path}/pods`, {
      "pod too large": pod("large", {
        containers: ["a", "b"].map((name) => ({ name, image: "a:1", resources: { limits: { cpu: "800m" } } })),
      }),
      "pod too small": withResources("tiny", { requests: { cpu: "100m" }, limits: { cpu: "1" } }),
      "pod by its init container": pod("by-init", {
        containers: [{ name: "a", image: "a:1", resources: { limits: { cpu: "500m" } } }],
        initContainers: [{ name: "i", image: "a:1", resources: { limits: { cpu: "2" } } }],
      }),
      "pod that fits": withResources("fits", { limits: { cpu: "500m" } }),
    });
    await session.quietly("DELETE", `${path}/limitranges/pods`);
    await range("claims", [{ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "5Gi" } }]);
    await sendAll(session, `${path}/persistentvolumeclaims`, {
      "claim too small": claim("small", "1Mi"),
      "claim too large": claim("large", "1Ti"),
      "claim that fits": claim("fits", "2Gi"),
    });
  },
};

const quotas: Case = {
  name: "admission by quotas",
  run: async (session) => {
    const path = await session.createNamespace();
    const quota = async (name: string, hard: object, more: object = {}): Promise<void> => {
      const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name }, spec: { hard, ...more } };
      const answer: Loose = await session.post(`quota ${name}`, `${path}/resourcequotas`, body);
      await session.noticed(150);
      await session.post(`before quota ${name} counts`, `${path}/configmaps?dryRun=All`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "dry" },
      });
      const used = Object.fromEntries(Object.keys(hard).map((each) => [each, "0"]));
      await session.put(`quota ${name} counts`, `${path}/resourcequotas/${name}/status`, {
        ...answer,
        status: { hard, used },
      });
      await session.noticed(150);
    };
    const show = async (name: string): Promise<void> => {
      await session.get(`quota ${name} then`, `${path}/resourcequotas/${name}`);
    };
    const map = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    await quota("objects", { configmaps: "2", "count/secrets": "1", "count/deployments.apps": "1" });
    await sendAll(session, `${path}/configmaps`, { first: map("one"), second: map("two"), third: map("three") });
    await session.post("dry run over it", `${path}/configmaps?dryRun=All`, map("four"));
    await show("objects");
    const secret = (name: string): object => ({ apiVersion: "v1", kind: "Secret", metadata: { name } });
    await sendAll(session, `${path}/secrets`, { "first secret": secret("one"), "second secret": secret("two") });
    await show("objects");
    await quota("compute", { pods: "3", "requests.cpu": "1", "limits.memory": "1Gi" });
    await sendAll(session, `${path}/pods`, {
      "pod without requests": pod("none"),
      "pod with one of two": withResources("half", { requests: { cpu: "100m" } }),
      "pod that fits": withResources("fits", { requests: { cpu: "600m" }, limits: { memory: "256Mi" } }),
      "pod too large": withResources("large", { requests: { cpu: "500m" }, limits: { memory: "900Mi" } }),
    });
    await show("compute");
    await session.patch("status of the pod", `${path}/pods/fits/status`, { status: { phase: "Running" } });
    await quota("services", { services: "2", "services.nodeports": "1", "services.loadbalancers": "0" });
    const service = (name: string, spec: object): object => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...spec },
    });
    await sendAll(session, `${path}/services`, {
      "plain service": service("plain", {}),
      "service with a node port": service("port", { type: "NodePort" }),
      "third service": service("third", {}),
    });
    await session.patch("a node port for the plain one", `${path}/services/plain`, { spec: { type: "NodePort" } });
    await show("services");
    await quota("storage", {
      "requests.storage": "10Gi",
      persistentvolumeclaims: "5",
      "fast.storageclass.storage.k8s.io/requests.storage": "1Gi",
    });
    await sendAll(session, `${path}/persistentvolumeclaims`, {
      "claim of a class": claim("fast", "2Gi", { storageClassName: "fast" }),
      "claim of no class": claim("plain", "8Gi"),
      "claim over it": claim("over", "3Gi"),
    });
    await show("storage");
    await quota("best-effort", { pods: "0" }, { scopes: ["BestEffort"] });
    await quota(
      "by-class",
      { pods: "0" },
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["system-node-critical"] }],
        },
      },
    );
    await session.quietly("DELETE", `${path}/resourcequotas/compute`);
    await session.noticed(150);
    await sendAll(session, `${path}/pods`, {
      "best effort": pod("best-effort"),
      critical: withResources("critical", { requests: { cpu: "1m" } }, { priorityClassName: "system-node-critical" }),
      burstable: withResources("burstable", { requests: { cpu: "1m" } }),
    });
  },
};

const priorities: Case = {
  name: "admission by priority classes",
  isAlone: true,
  run: async (session) => {
    const path = await session.createNamespace();
    const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    const priorityClass = (name: string, more: object): object => ({
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: `${session.slug}-${name}` },
      ...more,
    });
    await sendAll(session, classes, {
      high: priorityClass("high", { value: 1000, preemptionPolicy: "Never" }),
    });
    await session.noticed(150);
    await sendAll(session, `${path}/pods`, {
      "of a class": pod("high", { priorityClassName: `${session.slug}-high` }),
      "of no class": pod("none", { priorityClassName: "nope" }),
      "with a number": pod("number", { priority: 5 }),
      "with the right number": pod("right", { priority: 1000, priorityClassName: `${session.slug}-high` }),
      "with another policy": pod("policy", {
        preemptionPolicy: "PreemptLowerPriority",
        priorityClassName: `${session.slug}-high`,
      }),
      "of the system's": pod("system", { priorityClassName: "system-cluster-critical" }),
    });
    await session.patch("update", `${path}/pods/high`, { metadata: { labels: { a: "b" } } });
    await sendAll(session, classes, { default: priorityClass("default", { value: 7, globalDefault: true }) });
    await session.noticed(150);
    await sendAll(session, classes, { "another default": priorityClass("other", { value: 8, globalDefault: true }) });
    await session.patch("a default too", `${classes}/${session.slug}-high`, { globalDefault: true });
    await sendAll(session, `${path}/pods`, { "of the default": pod("default") });
    await session.quietly("DELETE", `${classes}/${session.slug}-default`);
    await session.quietly("DELETE", `${classes}/${session.slug}-high`);
    await session.noticed(150);
  },
};

const otherClasses: Case = {
  name: "admission by other classes",
  isAlone: true,
  run: async (session) => {
    const path = await session.createNamespace();
    const { slug } = session;
    const runtimes = "/apis/node.k8s.io/v1/runtimeclasses";
    await session.post("runtime class", runtimes, {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: slug },
      handler: "h",
      overhead: { podFixed: { cpu: "250m" } },
      scheduling: { nodeSelector: { kind: "special" }, tolerations: [{ key: "special", operator: "Exists" }] },
    });
    await session.noticed(150);
    await sendAll(session, `${path}/pods`, {
      "of a runtime class": pod("of", { runtimeClassName: slug }),
      "of no runtime class": pod("no", { runtimeClassName: "nope" }),
      "with another overhead": pod("other", { runtimeClassName: slug, overhead: { cpu: "1" } }),
      "with an overhead": pod("overhead", { overhead: { cpu: "1" } }),
      "with another selector": pod("selector", { runtimeClassName: slug, nodeSelector: { kind: "usual" } }),
      "with tolerations": pod("tolerations", {
        runtimeClassName: slug,
        nodeSelector: { disk: "ssd" },
        tolerations: [{ key: "special", operator: "Equal", value: "x", effect: "NoSchedule" }],
      }),
      "that tolerates everything": pod("everything", { tolerations: [{ operator: "Exists" }] }),
    });
    const ingresses = `/apis/networking.k8s.io/v1/namespaces/${slug}/ingresses`;
    const ingress = (name: string, more: object = {}, metadata: object = {}): object => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name, ...metadata },
      spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } }, ...more },
    });
    await session.quietly("POST", "/apis/networking.k8s.io/v1/ingressclasses", {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: slug, annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
      spec: { controller: "example.test/c" },
    });
    await session.noticed(150);
    await sendAll(session, ingresses, {
      "ingress without a class": ingress("none"),
      "ingress with a class": ingress("some", { ingressClassName: "other" }),
      "ingress with an annotation": ingress("old", {}, { annotations: { "kubernetes.io/ingress.class": "x" } }),
    });
    await session.quietly("DELETE", `/apis/networking.k8s.io/v1/ingressclasses/${slug}`);
    const storage = "/apis/storage.k8s.io/v1/storageclasses";
    await session.quietly("POST", storage, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: slug, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "example.test/p",
      allowVolumeExpansion: true,
    });
    await session.noticed(150);
    const claims = `${path}/persistentvolumeclaims`;
    await sendAll(session, claims, {
      "claim without a class": claim("none", "1Gi"),
      "claim of another class": claim("other", "1Gi", { storageClassName: "other" }),
      "claim of no class": claim("empty", "1Gi", { storageClassName: "" }),
    });
    const larger = async (label: string, name: string): Promise<void> => {
      await session.patch(label, `${claims}/${name}`, { spec: { resources: { requests: { storage: "2Gi" } } } });
    };
    for (const name of ["none", "other"]) {
      await session.patch(`bind ${name}`, `${claims}/${name}/status`, { status: { phase: "Bound" } });
    }
    await larger("a larger claim", "none");
    await larger("a larger claim whose class does not grow", "other");
    await session.quietly("DELETE", `${storage}/${slug}`);
    await session.noticed(150);
  },
};

export const admission: readonly Case[] = [limitRanges, quotas, priorities, otherClasses];
