/** Quotas: what is used of them, as objects come and go. */
import type { Loose } from "../recorder.ts";
import { type Situation, situation } from "../situation.ts";
import type { Until } from "../stage.ts";

const quota = (spec: Loose): Loose => ({
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "all" },
  spec,
});

const pod = (name: string, more: Loose = {}): Loose => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    containers: [
      {
        name: "web",
        image: "web:1",
        resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "200m", memory: "128Mi" } },
      },
    ],
    ...more,
  },
});

const uses =
  (wanted: Readonly<Record<string, string>>): Until =>
  (stage) => {
    const used = stage.find("ResourceQuota", "all")?.status?.used;
    return used !== undefined && Object.entries(wanted).every(([name, amount]) => used[name] === amount);
  };

export const quotas: readonly Situation[] = [
  situation("quota: pods and what they ask for", async (stage) => {
    await stage.apply(quota({ hard: { pods: "5", "requests.cpu": "1", "limits.memory": "1Gi" } }));
    await stage.settle("nothing", uses({ pods: "0", "requests.cpu": "0" }));
    await stage.create(pod("one"));
    await stage.create(pod("two"));
    await stage.settle("two", uses({ pods: "2", "requests.cpu": "200m" }));
    await stage.delete("Pod", "one");
    await stage.settle("one", uses({ pods: "1", "requests.cpu": "100m" }));
  }),
  situation("quota: objects of every kind", async (stage) => {
    const hard = {
      configmaps: "9",
      secrets: "9",
      services: "9",
      "count/configmaps": "9",
      "count/deployments.apps": "9",
    };
    await stage.until(
      "the objects of every namespace",
      (now) => now.find("ConfigMap", "kube-root-ca.crt") !== undefined,
    );
    await stage.apply(quota({ hard }));
    await stage.settle("one", uses({ configmaps: "1", "count/configmaps": "1", "count/deployments.apps": "0" }));
    await stage.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "more" } });
    await stage.settle("two", uses({ configmaps: "2" }));
    await stage.delete("ConfigMap", "more");
    await stage.settle("one again", uses({ configmaps: "1" }));
  }),
  situation("quota: only pods that end", async (stage) => {
    await stage.apply(quota({ hard: { pods: "5" }, scopes: ["Terminating"] }));
    await stage.settle("nothing", uses({ pods: "0" }));
    await stage.create(pod("one", { activeDeadlineSeconds: 600 }));
    await stage.create(pod("two"));
    await stage.settle("one", uses({ pods: "1" }));
  }),
  situation("quota: a pod that has ended uses nothing", async (stage) => {
    await stage.apply(quota({ hard: { pods: "5" } }));
    await stage.settle("nothing", uses({ pods: "0" }));
    const one = pod("one", { restartPolicy: "Never" });
    await stage.create({
      ...one,
      metadata: { ...one.metadata, annotations: { "pods.binnacle.dev/exits-after": "3s" } },
    });
    await stage.settle("it runs", uses({ pods: "1" }), { quiet: 0 });
    await stage.settle("it has ended", uses({ pods: "0" }));
  }),
];
