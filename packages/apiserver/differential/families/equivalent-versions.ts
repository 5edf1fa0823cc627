/**
 * Rules of webhooks and policies that name another version of the kind than the request does: whether they match, and
 * which object they get.
 */
import type { Loose } from "../session.ts";
import { patchVerdict, verdict, type WebhookServer, webhookServer } from "../sequences/webhook-server.ts";
import { define, definitionOf, versionOf, withSpec } from "../custom-kinds.ts";
import type { Family, Probe } from "./family.ts";

interface Served {
  readonly apiVersion: string;
  readonly body: object;
}

/** A kind and the forms in which it is served. */
interface Subject {
  readonly name: string;
  readonly plural: string;
  readonly served: readonly Served[];
  /** A merge patch that changes an object in any of its versions. */
  readonly change: object;
  readonly rules: readonly (readonly [apiGroups: string[], apiVersions: string[]])[];
  prepare?(probe: Probe): Promise<void>;
}

const scaled = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" }, maxReplicas: 3 };
const memory = {
  type: "Resource",
  resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
};
const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };

const group = "equivalent.example.test";

const subjects: readonly Subject[] = [
  {
    name: "autoscalers",
    plural: "horizontalpodautoscalers",
    served: [
      {
        apiVersion: "autoscaling/v1",
        body: { kind: "HorizontalPodAutoscaler", spec: { ...scaled, targetCPUUtilizationPercentage: 70 } },
      },
      {
        apiVersion: "autoscaling/v2",
        body: {
          kind: "HorizontalPodAutoscaler",
          spec: { ...scaled, metrics: [cpu, memory], behavior: { scaleDown: { stabilizationWindowSeconds: 5 } } },
        },
      },
    ],
    change: { spec: { maxReplicas: 5 } },
    rules: [
      [["autoscaling"], ["v1"]],
      [["autoscaling"], ["v2"]],
      [["autoscaling"], ["v2beta2"]],
      [["autoscaling"], ["v1", "v2"]],
      [["*"], ["v1"]],
      [["extensions"], ["*"]],
    ],
  },
  {
    name: "custom",
    plural: "gears",
    served: [
      { apiVersion: `${group}/v1`, body: { kind: "Gear", spec: { size: 1 } } },
      { apiVersion: `${group}/v2`, body: { kind: "Gear", spec: { size: 2, color: "red" } } },
    ],
    change: { spec: { size: 5 } },
    rules: [
      [[group], ["v1"]],
      [[group], ["v2"]],
      [[group], ["v3"]],
      [[group], ["v4", "v2"]],
      [["*"], ["v1"]],
    ],
    prepare: defineGears,
  },
];

async function defineGears(probe: Probe): Promise<void> {
  const size = { type: "integer" };
  const version = (name: string, properties: object, more: object = {}): object =>
    versionOf(name, withSpec(properties), { subresources: { status: {} }, ...more });
  const versions = [
    version("v1", { size, color: { type: "string" } }),
    version("v2", { size, color: { type: "string", default: "blue" } }),
    version("v3", { size }, { served: false }),
  ];
  await define(probe.session, definitionOf({ group, plural: "gears", kind: "Gear", versions }));
}

const registration = "/apis/admissionregistration.k8s.io/v1";
const merge = { "content-type": "application/merge-patch+json" };

class Round {
  readonly #probe: Probe;
  readonly #server: WebhookServer;

  constructor(probe: Probe, server: WebhookServer) {
    this.#probe = probe;
    this.#server = server;
  }

  /** Creates, changes and deletes an object in each form, and records which webhooks were called. */
  async play(label: string, { served, plural, change }: Subject): Promise<void> {
    const { session, namespace } = this.#probe;
    for (const { apiVersion, body } of served) {
      const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      const path = `${root}/namespaces/${namespace}/${plural}`;
      const text = JSON.stringify({ apiVersion, metadata: { name: "one" }, ...body }).replaceAll("$", namespace);
      const title = `${label}, in ${apiVersion}`;
      const send = async (what: string, method: string, at: string, sent?: unknown): Promise<void> => {
        const headers = method === "PATCH" ? merge : { "content-type": "application/json" };
        await session.send(`${what}, ${title}`, method, at, { headers, ...(sent === undefined ? {} : { body: sent }) });
        session.note(`asked on ${what}, ${title}`, reviewsOf(this.#server));
      };
      await send("create", "POST", `${path}?fieldManager=m`, JSON.parse(text));
      await send("change", "PATCH", `${path}/one?fieldManager=m`, change);
      await send("status", "PATCH", `${path}/one/status?fieldManager=m`, change);
      await send("delete", "DELETE", `${path}/one`);
    }
  }
}

function reviewsOf(server: WebhookServer): Loose[] {
  return server.reviews.splice(0).toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** Returns the family of a kind: all combinations of its versions, rules and match policies. */
function family(subject: Subject): Family {
  return {
    name: `equivalent versions: ${subject.name}`,
    share: 0.3,
    run: async (probe) => {
      const { session, namespace } = probe;
      await probe.createNamespace();
      await subject.prepare?.(probe);
      await using server = webhookServer();
      server.answer("/check", (review) => verdict(review, { allowed: true }));
      server.answer("/change", (review) =>
        review.request.operation === "DELETE"
          ? verdict(review, { allowed: true })
          : patchVerdict(review, [{ op: "add", path: "/metadata/annotations", value: { changed: "yes" } }]),
      );
      const round = new Round(probe, server);
      const resources = [subject.plural, `${subject.plural}/*`];
      const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
      for (const [apiGroups, apiVersions] of subject.rules) {
        for (const matchPolicy of ["Exact", "Equivalent"]) {
          const label = `${matchPolicy} for ${apiGroups.join("+")}/${apiVersions.join("+")}`;
          if (!probe.isChosen(label)) continue;
          const rules = [{ apiGroups, apiVersions, operations: ["*"], resources }];
          const hook = (path: string, more: object = {}): object => ({
            name: `${path.slice(1)}.hooks.example.test`,
            clientConfig: { url: `${server.url}${path}`, caBundle: server.caBundle },
            rules,
            matchPolicy,
            namespaceSelector,
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
            ...more,
          });
          const configurations = [
            ["mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "/change"],
            ["validatingwebhookconfigurations", "ValidatingWebhookConfiguration", "/check"],
          ] as const;
          for (const [plural, kind, path] of configurations)
            await probe.quietly("POST", `${registration}/${plural}`, {
              apiVersion: "admissionregistration.k8s.io/v1",
              kind,
              metadata: { name: namespace },
              webhooks: [hook(path)],
            });
          await session.noticed(400);
          await round.play(`webhooks ${label}`, subject);
          for (const [plural] of configurations)
            await probe.quietly("DELETE", `${registration}/${plural}/${namespace}`);
          await policy(probe, { rules, matchPolicy, namespaceSelector });
          await round.play(`policy ${label}`, subject);
          await probe.quietly("DELETE", `${registration}/validatingadmissionpolicies/${namespace}`);
          await probe.quietly("DELETE", `${registration}/validatingadmissionpolicybindings/${namespace}`);
          await session.noticed(1500);
        }
      }
    },
  };
}

/** Creates a policy that warns of every request it matches. */
async function policy(
  probe: Probe,
  { rules, ...constraints }: { readonly rules: readonly object[]; readonly [name: string]: unknown },
): Promise<void> {
  const { namespace, session } = probe;
  const view =
    "request.kind.group + '/' + request.kind.version + ' of ' + request.requestKind.version + ' ' + " +
    "request.resource.group + '/' + request.resource.version + ' ' + " +
    "(object == null ? 'nothing' : object.apiVersion + ' ' + (has(object.spec) ? (has(object.spec.metrics) ? 'metrics' : 'spec') : '-'))";
  await probe.quietly("POST", `${registration}/validatingadmissionpolicies`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: namespace },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { resourceRules: rules, ...constraints },
      validations: [{ expression: "false", messageExpression: view }],
    },
  });
  await probe.quietly("POST", `${registration}/validatingadmissionpolicybindings`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: namespace },
    spec: { policyName: namespace, validationActions: ["Warn"] },
  });
  await session.noticed(1500);
}

export const equivalentVersions: readonly Family[] = subjects.map(family);
