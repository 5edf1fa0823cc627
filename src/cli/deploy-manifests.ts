/** What it takes to run the modules in a cluster. */
import { createHash } from "node:crypto";
import { basename, dirname, join, relative, resolve } from "node:path";
import { closureOf } from "../loader/closure.ts";
import { scanFolders } from "../loader/scan.ts";
import { realpathSync } from "node:fs";
import { namespaceManifest, type ServiceAccount } from "./rbac-manifests.ts";
import { UserError } from "./usage-error.ts";

export interface DeployOptions {
  readonly account: ServiceAccount;
  readonly namespaces: readonly string[];
  readonly rbac: readonly object[];
  /** The folders that the modules come from. */
  readonly controllers: readonly string[];
  /** Holds the binary and the modules; `undefined` for a ConfigMap with the modules. */
  readonly image: string | undefined;
  /** Holds the binary, for use with a ConfigMap. */
  readonly baseImage: string;
}

/** The API server's limit for a ConfigMap, less what is around the data. */
const LIMIT = 1024 * 1024 - 4096;

/** Namespace, ServiceAccount, RBAC, the modules, and a Deployment with probes. */
export function deployManifests(options: DeployOptions): readonly object[] {
  const { account, rbac, image } = options;
  const { name, namespace } = account;
  const files = image === undefined ? configMapFiles(options.controllers) : undefined;
  const metadata = { name, namespace, labels: labels(name) };
  return [
    ...namespaceManifest(namespace),
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    ...rbac,
    ...(files === undefined
      ? []
      : [
          {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata,
            data: Object.fromEntries(files.map((file) => [file.key, file.text])),
          },
        ]),
    deployment(options, files),
  ];
}

function labels(name: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "binnacle" };
}

function deployment(
  { account, namespaces, image, baseImage }: DeployOptions,
  files: readonly MountedFile[] | undefined,
): object {
  const { name, namespace } = account;
  const selector = { "app.kubernetes.io/name": name };
  const annotations = files === undefined ? undefined : { "binnacle.dev/modules": hashOf(files) };
  const probe = (path: string) => ({ httpGet: { path, port: "health" }, periodSeconds: 10 });
  const container = {
    name: "binnacle",
    image: image ?? baseImage,
    args: ["run", "--controllers=/controllers", ...namespaces.map((one) => `--namespace=${one}`)],
    ports: [
      { name: "health", containerPort: 8081 },
      { name: "metrics", containerPort: 8080 },
    ],
    startupProbe: { httpGet: { path: "/livez", port: "health" }, periodSeconds: 1, failureThreshold: 30 },
    livenessProbe: probe("/livez"),
    readinessProbe: probe("/readyz"),
    resources: { requests: { cpu: "10m", memory: "96Mi" } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true },
    ...(files !== undefined && { volumeMounts: [{ name: "controllers", mountPath: "/controllers", readOnly: true }] }),
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels: labels(name) },
    spec: {
      // Two at the same time would reconcile the same objects.
      replicas: 1,
      strategy: { type: "Recreate" },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: labels(name), ...(annotations !== undefined && { annotations }) },
        spec: {
          serviceAccountName: name,
          // The grace period of `run`, and the time to close connections.
          terminationGracePeriodSeconds: 45,
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
          containers: [container],
          ...(files !== undefined && {
            volumes: [
              { name: "controllers", configMap: { name, items: files.map(({ key, path }) => ({ key, path })) } },
            ],
          }),
        },
      },
    },
  };
}

interface MountedFile {
  /** In the ConfigMap: letters, digits, `-`, `_` and `.`. */
  readonly key: string;
  /** Below the mount. */
  readonly path: string;
  readonly text: string;
}

/** The modules' files, and what they import from their folder. */
function configMapFiles(folders: readonly string[]): readonly MountedFile[] {
  const files = new Map<string, string>();
  for (const folder of folders) {
    const root = realpathSync(resolve(folder));
    for (const { file } of scanFolders([folder])) {
      for (const [path, text] of closureOf(file).sources) {
        const inside = relative(root, path);
        if (inside.startsWith("..")) {
          throw new UserError(
            `Cannot put '${file}' into a ConfigMap: it imports ${join(dirname(folder), basename(path))}, which is outside of ` +
              `'${folder}'; move it there, or build an image and pass --image`,
          );
        }
        if (files.has(inside) && files.get(inside) !== text) {
          throw new UserError(
            `Cannot put two files called '${inside}' into one ConfigMap: rename one, or build an image and pass --image`,
          );
        }
        files.set(inside, text);
      }
    }
  }
  const size = [...files].reduce((sum, [path, text]) => sum + Buffer.byteLength(text) + 2 * path.length, 0);
  if (size > LIMIT) {
    throw new UserError(
      `Cannot put the modules into a ConfigMap: they take ${size} bytes of ${LIMIT}; build an image and pass --image`,
    );
  }
  return [...files]
    .map(([path, text]) => ({ key: path.replaceAll("/", "__").replaceAll(/[^-._a-zA-Z0-9]/g, "-"), path, text }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function hashOf(files: readonly MountedFile[]): string {
  return createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
}
