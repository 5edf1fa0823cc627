/** The levels of pod security: what each rejects and reports. */
import type { Case } from "../case.ts";
import { pod, sendAll } from "./admission.ts";

export const podSecurity: Case = {
  name: "admission by pod security",
  run: async (session) => {
    const labels = {
      "pod-security.kubernetes.io/enforce": "baseline",
      "pod-security.kubernetes.io/warn": "restricted",
    };
    const path = await session.createNamespace(session.slug, labels);
    await session.noticed(150);
    const security = (securityContext: object): object => ({
      containers: [{ name: "a", image: "a:1", securityContext }],
    });
    const good = {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    };
    const all = {
      hostNetwork: true,
      hostPID: true,
      volumes: [
        { name: "h", hostPath: { path: "/" } },
        { name: "n", nfs: { server: "s", path: "/" } },
      ],
      securityContext: {
        sysctls: [{ name: "kernel.msgmax", value: "1" }],
        seLinuxOptions: { type: "bad", user: "u", role: "r" },
        seccompProfile: { type: "Unconfined" },
        appArmorProfile: { type: "Unconfined" },
        runAsNonRoot: false,
        runAsUser: 0,
      },
      initContainers: [{ name: "i", image: "i:1", securityContext: { privileged: true } }],
      containers: [
        {
          name: "a",
          image: "a:1",
          ports: [{ containerPort: 80, hostPort: 80 }],
          securityContext: { capabilities: { add: ["SYS_ADMIN", "NET_RAW"] }, runAsUser: 0 },
          livenessProbe: { httpGet: { port: 80, host: "example.test" } },
        },
        {
          name: "b",
          image: "b:1",
          ports: [{ containerPort: 81, hostPort: 81 }],
          securityContext: { seccompProfile: { type: "Unconfined" }, appArmorProfile: { type: "Unconfined" } },
        },
      ],
    };
    const bodies = {
      "warned of": pod("plain"),
      good: pod("good", security(good)),
      privileged: pod("privileged", security({ privileged: true })),
      "everything wrong": pod("all", all),
      unmasked: pod("unmasked", { hostUsers: false, ...security({ procMount: "Unmasked" }) }),
      "generated name": pod("", security({ privileged: true }), { generateName: "made-" }),
    };
    await sendAll(session, `${path}/pods`, bodies);
    await session.patch("another image", `${path}/pods/plain`, { spec: { containers: [{ name: "a", image: "a:2" }] } });
    await session.patch("a label", `${path}/pods/plain`, { metadata: { labels: { a: "b" } } });
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a:1" }] } };
    await session.post("deployment", `/apis/apps/v1/namespaces/${session.slug}/deployments`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: { selector: { matchLabels: { a: "b" } }, template },
    });
    const jobSpec = { template: { spec: { containers: [{ name: "a", image: "a:1" }], restartPolicy: "Never" } } };
    await session.post("cron job", `/apis/batch/v1/namespaces/${session.slug}/cronjobs`, {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "c" },
      spec: { schedule: "* * * * *", jobTemplate: { spec: jobSpec } },
    });
    const relabel = async (label: string, more: object): Promise<void> => {
      await session.patch(label, path, { metadata: { labels: more } });
      await session.noticed(150);
    };
    await relabel("enforce restricted", { "pod-security.kubernetes.io/enforce": "restricted" });
    await sendAll(session, `${path}/pods`, {
      "everything wrong, restricted": pod("all", all),
      "nothing said, restricted": pod("none"),
      "root, restricted": pod("root", security({ ...good, runAsUser: 0 })),
      "in a user namespace": pod("users", {
        hostUsers: false,
        ...security({ ...good, runAsUser: 0, runAsNonRoot: false }),
      }),
      "unmasked, restricted": pod("unmasked-too", {
        hostUsers: false,
        ...security({ ...good, procMount: "Unmasked" }),
      }),
      "on Windows": pod("windows", { os: { name: "windows" } }),
      "good, restricted": pod("good-too", security(good)),
    });
    await relabel("an older version", { "pod-security.kubernetes.io/enforce-version": "v1.20" });
    await sendAll(session, `${path}/pods`, { "nothing said, older": pod("older") });
    await relabel("no level", { "pod-security.kubernetes.io/enforce": "strict" });
    await relabel("no version", { "pod-security.kubernetes.io/warn-version": "1.20" });
    await relabel("privileged", { "pod-security.kubernetes.io/enforce": "privileged" });
    await relabel("baseline", { "pod-security.kubernetes.io/enforce": "baseline" });
    await session.post("namespace with wrong labels", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: `${session.slug}-wrong`,
        labels: { "pod-security.kubernetes.io/enforce": "x", "pod-security.kubernetes.io/audit-version": "y" },
      },
    });
  },
};
