/** Parts of pods and of templates of pods. */
import { at, type Part, fixed, part } from "./kind.ts";
import type { JsonMap } from "../json.ts";

const web = (fields: JsonMap): JsonMap => ({ spec: { containers: [{ name: "web", ...fields }] } });
const spec = (fields: JsonMap): JsonMap => ({ spec: fields });
const anti = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "zone", labelSelector: { matchLabels: { app: "child" } } },
    ],
  },
};
const spread = (topologyKey: string, maxSkew: number): JsonMap => ({
  maxSkew,
  topologyKey,
  whenUnsatisfiable: "ScheduleAnyway",
  labelSelector: { matchLabels: { app: "child" } },
});

/** The parts under the path of a template, or at the top for a pod. */
const parts: readonly (readonly JsonMap[])[] = [
  [web({ image: "web:2" }), web({ image: "web:3", imagePullPolicy: "Always" })],
  [web({ args: ["a"] }), web({ args: ["a", "b"] }), web({ args: ["b", "a"] }), web({ args: [] })],
  [web({ command: ["run"] }), web({ command: ["run", ""] }), web({ workingDir: "/" })],
  [
    web({ env: [{ name: "A", value: "1" }] }),
    web({
      env: [
        { name: "A", value: "2" },
        { name: "B", value: "$(A)" },
      ],
    }),
    web({
      env: [
        { name: "B", value: "x" },
        { name: "A", value: "$(B)" },
        { name: "C", value: "" },
      ],
    }),
    web({ env: [{ name: "A", value: "" }] }),
    web({ env: [{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }] }),
    web({ env: [] }),
  ],
  [web({ envFrom: [{ configMapRef: { name: "c" } }] }), web({ envFrom: [] })],
  [
    web({ ports: [{ containerPort: 80 }] }),
    web({ ports: [{ containerPort: 80, name: "http" }, { containerPort: 81 }] }),
    web({
      ports: [
        { containerPort: 53, protocol: "UDP" },
        { containerPort: 53, protocol: "TCP" },
      ],
    }),
    web({ ports: [] }),
  ],
  [
    web({ resources: { limits: { cpu: "1000m" } } }),
    web({ resources: { limits: { cpu: "0.5", memory: "0.5Gi" }, requests: { cpu: 0 } } }),
    web({ resources: { requests: { memory: "1024Mi" } } }),
    web({ resources: {} }),
  ],
  [
    web({ securityContext: { capabilities: { drop: ["ALL"] } } }),
    web({ securityContext: { privileged: false } }),
    web({ securityContext: {} }),
  ],
  [
    web({ readinessProbe: { httpGet: { path: "/", port: 80 } } }),
    web({ readinessProbe: { exec: { command: ["true"] }, periodSeconds: 3 } }),
    web({ livenessProbe: { tcpSocket: { port: "http" }, initialDelaySeconds: 0 } }),
  ],
  [web({ tty: false }), web({ stdin: true }), web({ terminationMessagePath: "/x" })],
  [
    spec({ containers: [{ name: "side", image: "side:1" }] }),
    spec({ containers: [{ name: "side", image: "side:2", env: [{ name: "S", value: "s" }] }] }),
  ],
  [spec({ initContainers: [{ name: "init", image: "init:1" }] }), spec({ initContainers: [] })],
  [
    spec({
      volumes: [{ name: "tmp", emptyDir: {} }],
      containers: [{ name: "web", volumeMounts: [{ name: "tmp", mountPath: "/tmp" }] }],
    }),
    spec({ volumes: [{ name: "tmp", emptyDir: { sizeLimit: "0.5Gi" } }] }),
    spec({ volumes: [{ name: "tmp", configMap: { name: "c", items: [{ key: "k", path: "p" }] } }] }),
    spec({
      volumes: [
        { name: "all", projected: { sources: [{ configMap: { name: "c" } }] } },
        { name: "tmp", emptyDir: {} },
      ],
    }),
    spec({ volumes: [] }),
  ],
  [
    spec({ nodeSelector: { disk: "ssd" } }),
    spec({ nodeSelector: { disk: "", zone: "a" } }),
    spec({ nodeSelector: {} }),
  ],
  [
    spec({ tolerations: [{ key: "a", operator: "Exists" }] }),
    spec({
      tolerations: [
        { key: "a", operator: "Exists" },
        { key: "b", value: "c", effect: "NoSchedule" },
      ],
    }),
    spec({ tolerations: [] }),
  ],
  [
    spec({ securityContext: {} }),
    spec({ securityContext: { runAsUser: 0 } }),
    spec({ securityContext: { runAsNonRoot: false, fsGroup: 0 } }),
  ],
  [spec({ automountServiceAccountToken: false }), spec({ automountServiceAccountToken: true })],
  [spec({ hostNetwork: false }), spec({ hostPID: true }), spec({ shareProcessNamespace: false })],
  [spec({ terminationGracePeriodSeconds: 0 }), spec({ terminationGracePeriodSeconds: 10 })],
  [spec({ affinity: {} }), spec({ affinity: anti })],
  [
    spec({ topologySpreadConstraints: [spread("zone", 1)] }),
    spec({ topologySpreadConstraints: [spread("host", 1), spread("zone", 2)] }),
  ],
  [
    spec({ imagePullSecrets: [{ name: "a" }] }),
    spec({ imagePullSecrets: [{ name: "b" }, { name: "a" }] }),
    spec({ imagePullSecrets: [] }),
  ],
  [
    spec({ hostAliases: [{ ip: "10.0.0.1", hostnames: ["h"] }] }),
    spec({ hostAliases: [{ ip: "10.0.0.2", hostnames: ["h", "i"] }] }),
  ],
  [
    spec({ dnsPolicy: "Default" }),
    spec({ dnsPolicy: "None", dnsConfig: { nameservers: ["10.0.0.1"], options: [{ name: "ndots", value: "2" }] } }),
  ],
  [spec({ schedulerName: "theirs" }), spec({ schedulerName: "mine" }), spec({ priorityClassName: "" })],
  [spec({ enableServiceLinks: false }), spec({ hostname: "h" }), spec({ setHostnameAsFQDN: false })],
];

export const podBase: JsonMap = { containers: [{ name: "web", image: "web:1" }] };
export const templateBase: JsonMap = { metadata: { labels: { app: "child" } }, spec: podBase };

/** The parts of the template under a path. */
export function templateParts(path: string, { isFixed = false } = {}): Part[] {
  const make = isFixed ? fixed : part;
  const labels = [
    { metadata: { labels: { tier: "x" } } },
    { metadata: { labels: { tier: "" }, annotations: { sum: "1" } } },
  ];
  return [...parts, labels].map((alternatives) => make(...alternatives.map((one) => at(path, one))));
}

/** The parts of a pod itself, of which only images may change. */
export const podParts: readonly Part[] = [
  part(web({ image: "web:2" }), web({ image: "web:3" })),
  ...parts.slice(1).map((alternatives) => fixed(...alternatives)),
];
