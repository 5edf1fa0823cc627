/** Starts the replicas of a fault: with modules of their own, and with the rights that the fault leaves them. */
import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import type { Bench, Operator } from "../support/binary.ts";
import type { Cluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

export interface StageParts {
  readonly name: string;
  readonly cluster: Cluster;
  readonly bench: Bench;
}

export interface ReplicaOptions {
  /** The modules by their files. */
  readonly files: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The path of a kubeconfig. @default the administrator's */
  readonly kubeconfig?: string;
}

export interface Stage extends StageParts {
  readonly start: (options: ReplicaOptions) => Promise<Operator>;
  /** Returns the kubeconfig of an account with every right but those on these resources. */
  readonly account: (denied: RegExp) => Promise<string>;
}

interface Kubeconfig {
  readonly clusters: { cluster: Record<string, string> }[];
  readonly users: { user: Record<string, string> }[];
}

/** Writes a kubeconfig with other parts than the administrator's, and returns its path. */
export async function kubeconfigOf(
  { name, cluster, bench }: StageParts,
  parts: {
    readonly server?: string;
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly token?: string;
  },
): Promise<string> {
  const config = parse(await readFile(cluster.kubeconfig, "utf8")) as Kubeconfig;
  const { server, ca, cert, key, token } = parts;
  const [{ cluster: to }, { user }] = [config.clusters[0]!, config.users[0]!];
  const encoded = (text: string): string => Buffer.from(text).toString("base64");
  if (server !== undefined) to["server"] = server;
  if (ca !== undefined) {
    delete to["certificate-authority"];
    to["certificate-authority-data"] = encoded(ca);
  }
  if (cert !== undefined) {
    for (const field of Object.keys(user)) delete user[field];
    user["client-certificate-data"] = encoded(cert);
    user["client-key-data"] = encoded(key!);
  }
  if (token !== undefined) {
    for (const field of Object.keys(user)) delete user[field];
    user["token"] = token;
  }
  return await bench.write(`${name}.kubeconfig`, JSON.stringify(config));
}

interface ApiResources {
  readonly resources: readonly { readonly name: string }[];
}

/** All rights on what these groups serve, without the resources that are denied. */
async function rulesWithout(cluster: Cluster, denied: RegExp): Promise<readonly object[]> {
  const groups = {
    "": "/api/v1",
    "coordination.k8s.io": "/apis/coordination.k8s.io/v1",
    "events.k8s.io": "/apis/events.k8s.io/v1",
    "admissionregistration.k8s.io": "/apis/admissionregistration.k8s.io/v1",
  };
  const rules = Object.entries(groups).map(async ([group, path]) => {
    const { resources } = (await cluster.get(path)) as unknown as ApiResources;
    const names = resources.map(({ name }) => name).filter((name) => !denied.test(name));
    return { apiGroups: [group], resources: names, verbs: ["*"] };
  });
  return (await Promise.all(rules)).filter(({ resources }) => resources.length > 0);
}

export function stageOf(parts: StageParts): Stage {
  const { name, cluster, bench } = parts;
  let replicas = 0;
  return {
    ...parts,
    async start({ files, args = [], kubeconfig = cluster.kubeconfig }) {
      const folder = `${name}-${replicas++}`;
      for (const [file, text] of Object.entries(files)) await bench.write(join(folder, file), text);
      const replica = await bench.run({ kubeconfig, args: [`--controllers=${folder}`, ...args] });
      // Until it listens, another one may be given its ports.
      await until(async () => (await replica.health("/livez")).status === 200, { what: () => replica.text });
      return replica;
    },
    async account(denied) {
      const rbac = "/apis/rbac.authorization.k8s.io/v1";
      const accounts = "/api/v1/namespaces/default/serviceaccounts";
      const metadata = { name };
      const subjects = [{ kind: "ServiceAccount", name, namespace: "default" }];
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
      await cluster.send("POST", accounts, { body: { metadata } });
      await cluster.send("POST", `${rbac}/clusterroles`, {
        body: { metadata, rules: await rulesWithout(cluster, denied) },
      });
      await cluster.send("POST", `${rbac}/clusterrolebindings`, { body: { metadata, subjects, roleRef } });
      const answer = await cluster.send("POST", `${accounts}/${name}/token`, { body: { spec: {} } });
      return await kubeconfigOf(parts, { token: String(answer.status?.["token"]) });
    },
  };
}
