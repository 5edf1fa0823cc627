import { labelled, podSpec, podTemplate, type Samples } from "./sample.ts";

const fullPod = {
  spec: {
    initContainers: [{ name: "init", image: "init", command: ["true"], restartPolicy: "Always" }],
    containers: [
      {
        name: "main",
        image: "example.test/main",
        args: ["--x=$(X)"],
        env: [
          { name: "X", value: "1" },
          { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "KEY", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
          { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
        ],
        envFrom: [{ prefix: "P_", configMapRef: { name: "c" } }],
        ports: [
          { name: "http", containerPort: 8080 },
          { containerPort: 9090, protocol: "UDP", hostPort: 9090 },
        ],
        resources: { limits: { cpu: "1500m", memory: "1Gi" }, requests: { cpu: "0.5" } },
        livenessProbe: { httpGet: { path: "/healthz", port: "http" }, initialDelaySeconds: 3 },
        readinessProbe: { tcpSocket: { port: 8080 } },
        startupProbe: { grpc: { port: 9090 } },
        lifecycle: { preStop: { exec: { command: ["sleep", "1"] } } },
        securityContext: { runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
        volumeMounts: [
          { name: "config", mountPath: "/config", readOnly: true },
          { name: "tmp", mountPath: "/tmp", subPath: "a" },
        ],
      },
    ],
    volumes: [
      { name: "config", configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
      { name: "secret", secret: { secretName: "s" } },
      { name: "tmp", emptyDir: {} },
      { name: "host", hostPath: { path: "/x" } },
      { name: "claim", persistentVolumeClaim: { claimName: "p" } },
      { name: "info", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
      {
        name: "all",
        projected: { sources: [{ serviceAccountToken: { path: "token" } }, { configMap: { name: "c" } }] },
      },
      {
        name: "more",
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        },
      },
    ],
    tolerations: [{ key: "a", operator: "Exists", effect: "NoSchedule" }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] }],
        },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: { labelSelector: { matchLabels: labelled }, topologyKey: "kubernetes.io/hostname" },
          },
        ],
      },
    },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: labelled } },
    ],
    securityContext: { fsGroup: 1, seccompProfile: { type: "RuntimeDefault" } },
    serviceAccountName: "robot",
    nodeSelector: { a: "b" },
    hostAliases: [{ ip: "10.0.0.1", hostnames: ["a.test"] }],
    imagePullSecrets: [{ name: "pull" }],
    terminationGracePeriodSeconds: 5,
    activeDeadlineSeconds: 100,
    readinessGates: [{ conditionType: "example.test/ready" }],
  },
};

export const core: Samples = {
  ConfigMap: {
    minimal: { data: { a: "1" } },
    full: { data: { a: "1", "b.c_d-e": "2" }, binaryData: { f: "AQI=" }, immutable: true },
    changes: [
      { data: { a: "2", b: "3" } },
      { data: { "a b": "1" } },
      { binaryData: { a: "AQI=" } },
      { immutable: true },
      { data: { a: "9" } },
    ],
  },
  Secret: {
    minimal: { data: { a: "MQ==" } },
    full: { stringData: { b: "plain" }, data: { a: "MQ==" }, type: "example.test/thing", immutable: false },
    changes: [
      { stringData: { c: "x" } },
      { type: "other" },
      { data: { a: "not base64" } },
      { immutable: true },
      { data: { a: "Mg==" } },
    ],
  },
  Endpoints: {
    minimal: { subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }] },
    full: {
      subsets: [
        {
          addresses: [{ ip: "10.0.0.2", nodeName: "n", hostname: "h" }],
          notReadyAddresses: [{ ip: "10.0.0.3" }],
          ports: [
            { name: "b", port: 81, protocol: "UDP" },
            { name: "a", port: 80, appProtocol: "http" },
          ],
        },
      ],
    },
    changes: [{ subsets: null }, { subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ port: 80 }] }] }],
  },
  Event: {
    minimal: {
      involvedObject: { kind: "Pod", namespace: "$NAMESPACE", name: "p" },
      reason: "Because",
      message: "so",
      type: "Normal",
    },
    full: {
      involvedObject: {
        kind: "Pod",
        namespace: "$NAMESPACE",
        name: "p",
        apiVersion: "v1",
        uid: "11111111-2222-3333-4444-555555555555",
      },
      reason: "Because",
      message: "so",
      type: "Warning",
      count: 3,
      source: { component: "c", host: "h" },
      firstTimestamp: "2020-01-02T03:04:05Z",
      lastTimestamp: "2020-01-02T03:04:06Z",
    },
    changes: [{ message: "other", count: 2 }],
  },
  LimitRange: {
    minimal: { spec: { limits: [{ type: "Container", max: { cpu: "2" } }] } },
    full: {
      spec: {
        limits: [
          { type: "Pod", max: { cpu: "2" }, min: { cpu: "1" } },
          { type: "PersistentVolumeClaim", min: { storage: "1Gi" } },
        ],
      },
    },
    changes: [
      { spec: { limits: [{ type: "Container", min: { cpu: "3" }, max: { cpu: "2" } }] } },
      { spec: { limits: [{ type: "Container" }, { type: "Container" }] } },
      { spec: { limits: [{ type: "Pod", default: { cpu: "1" } }] } },
      { spec: { limits: [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "2" } }] } },
    ],
  },
  Namespace: {
    minimal: {},
    full: { spec: { finalizers: ["kubernetes", "example.test/x"] } },
    changes: [{ spec: { finalizers: ["nope"] } }, { status: { phase: "Terminating" } }],
    status: {
      conditions: [
        { type: "T", status: "True", lastTransitionTime: "2020-01-02T03:04:05Z", reason: "R", message: "m" },
      ],
    },
  },
  Node: {
    minimal: {},
    full: {
      spec: {
        podCIDR: "10.1.0.0/24",
        podCIDRs: ["10.1.0.0/24"],
        providerID: "p://1",
        unschedulable: true,
        taints: [{ key: "a", effect: "NoSchedule" }],
      },
    },
    changes: [
      { spec: { taints: [{ key: "a", effect: "Nope" }] } },
      { spec: { podCIDR: "10.1.0.0/24" } },
      { spec: { podCIDR: "10.2.0.0/24" } },
      { spec: { unschedulable: true } },
    ],
    status: {
      capacity: { cpu: "4", memory: "8Gi" },
      addresses: [{ type: "InternalIP", address: "10.0.0.9" }],
      conditions: [{ type: "Ready", status: "True" }],
    },
  },
  PersistentVolume: {
    minimal: { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } } },
    full: {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
        csi: { driver: "d.test", volumeHandle: "h" },
        persistentVolumeReclaimPolicy: "Delete",
        storageClassName: "fast",
        volumeMode: "Block",
        mountOptions: ["ro"],
        claimRef: { namespace: "n", name: "c" },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }] } },
      },
    },
    changes: [
      { spec: { hostPath: { path: "/y" } } },
      { spec: { capacity: { storage: "2Gi" } } },
      { spec: { volumeMode: "Block" } },
      { spec: { persistentVolumeReclaimPolicy: "Nope" } },
    ],
    status: { phase: "Available" },
  },
  PersistentVolumeClaim: {
    minimal: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    full: {
      spec: {
        accessModes: ["ReadWriteOncePod"],
        resources: { requests: { storage: "1Gi" }, limits: { storage: "2Gi" } },
        storageClassName: "fast",
        volumeMode: "Block",
        selector: { matchLabels: labelled },
        dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" },
      },
    },
    changes: [
      { spec: { accessModes: ["ReadWriteMany"] } },
      { spec: { resources: { requests: { storage: "2Gi" } } } },
      { spec: { volumeName: "v" } },
    ],
    status: { phase: "Bound", capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] },
  },
  Pod: {
    minimal: { spec: podSpec },
    full: fullPod,
    changes: [
      { spec: { containers: [{ name: "main", image: "example.test/other" }] } },
      { spec: { containers: [{ name: "other", image: "example.test/main:1" }] } },
      { spec: { nodeName: "n" } },
      { spec: { activeDeadlineSeconds: 10 } },
      { spec: { activeDeadlineSeconds: 20 } },
      { spec: { tolerations: [{ key: "x", operator: "Exists" }] } },
      { spec: { hostNetwork: true } },
    ],
    status: {
      phase: "Running",
      podIP: "10.0.0.7",
      podIPs: [{ ip: "10.0.0.7" }],
      conditions: [{ type: "Ready", status: "True" }],
    },
  },
  PodTemplate: {
    minimal: { template: podTemplate },
    full: { template: { metadata: { labels: labelled }, spec: fullPod.spec } },
    changes: [{ template: { spec: { restartPolicy: "Nope" } } }],
  },
  ReplicationController: {
    minimal: { spec: { selector: labelled, template: podTemplate } },
    full: { spec: { replicas: 3, minReadySeconds: 2, template: podTemplate } },
    changes: [{ spec: { replicas: 3 } }, { spec: { selector: { app: "b" } } }, { spec: { replicas: -1 } }],
    status: { replicas: 1 },
  },
  ResourceQuota: {
    minimal: { spec: { hard: { pods: "4" } } },
    full: { spec: { hard: { "requests.cpu": "1", "count/configmaps": "3" }, scopes: ["NotTerminating"] } },
    changes: [
      { spec: { hard: { pods: "5" } } },
      { spec: { scopes: ["Terminating"] } },
      { spec: { hard: { pods: "-1" } } },
      { spec: { hard: { pods: "1.5" } } },
    ],
    status: { hard: { pods: "4" }, used: { pods: "0" } },
  },
  Service: {
    minimal: { spec: { selector: labelled, ports: [{ port: 80 }] } },
    full: {
      spec: {
        type: "NodePort",
        selector: labelled,
        sessionAffinity: "ClientIP",
        ports: [
          { name: "http", port: 80, targetPort: "web", appProtocol: "http" },
          { name: "dns", port: 53, protocol: "UDP" },
        ],
      },
    },
    changes: [
      { spec: { type: "NodePort" } },
      { spec: { type: "LoadBalancer" } },
      { spec: { clusterIP: "10.96.200.200" } },
      { spec: { type: "ExternalName", externalName: "a.test", clusterIP: "", clusterIPs: null } },
      { spec: { ports: [{ port: 80 }, { port: 81 }] } },
      { spec: { ports: [] } },
      { spec: { type: "Nope" } },
      { spec: { sessionAffinity: "Nope" } },
    ],
    status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
  },
  ServiceAccount: {
    minimal: {},
    full: { secrets: [{ name: "s" }], imagePullSecrets: [{ name: "p" }], automountServiceAccountToken: false },
    changes: [{ automountServiceAccountToken: true }],
  },
};
