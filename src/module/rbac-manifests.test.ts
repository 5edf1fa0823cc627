import { expect, test } from "bun:test";
import { allow } from "../controller/definition.ts";
import { declarationsOf } from "../controller/declarations.ts";
import { watch } from "../controller/watch.ts";
import { ClusterRole, ConfigMap, Deployment, Secret, ServiceAccount } from "../resource/builtin/index.ts";
import { foreignResource } from "../resource/foreign.ts";
import { type Resource, resource } from "../resource/handle.ts";
import { z } from "zod";
import { rbacManifests } from "./rbac-manifests.ts";
import { rulesOf } from "./rbac-rules.ts";

const account = { namespace: "system", name: "binnacle" };

interface Role {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

test("rbacManifests grants what is watched in selected namespaces everywhere, with the namespaces themselves", () => {
  const { permissions } = declarationsOf({
    for: ConfigMap,
    reads: [watch(Secret, { namespaces: { labels: "team=a" } })],
    reconcile: async () => {},
  });
  const granted = (namespaces: readonly string[]) =>
    (rbacManifests([permissions], { account, namespaces }) as readonly Role[])
      .filter(({ kind }) => kind.endsWith("Role"))
      .map(
        ({ kind, metadata, rules }) =>
          `${kind} ${metadata.namespace}: ${rules!.flatMap((rule) => rule.resources).join()}`,
      );
  expect(granted([])).toEqual(["ClusterRole undefined: configmaps,namespaces,secrets,events"]);
  expect(granted(["one"])).toEqual(["ClusterRole undefined: namespaces,secrets", "Role one: configmaps,events"]);
});

test("rbacManifests grants no status and no finalizers that nothing writes", () => {
  const rules = (owns: readonly Resource[], primary: Resource): string[] =>
    rulesOf([declarationsOf({ for: primary, owns, reconcile: async () => {} }).permissions]).map(
      ({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`,
    );
  expect(rules([], ConfigMap)).toEqual(["configmaps: get,list,watch", "events: create,patch"]);
  expect(rules([], Deployment)).toContain("deployments/status: patch");
  expect(rules([Secret], ConfigMap)).toContain("configmaps/finalizers: update");
  const foreign = (schema?: z.ZodObject) =>
    rules(
      [],
      foreignResource({
        group: "a.example.com",
        version: "v1",
        kind: "Dish",
        plural: "dishes",
        ...(schema && { schema }),
      }),
    );
  const spec = z.object({});
  const status = z.object({ phase: z.string() }).optional();
  expect(foreign(z.object({ spec }))).toEqual(["dishes: get,list,watch", "events: create,patch"]);
  expect(foreign(z.object({ spec, status }))).toContain("dishes/status: update,patch");
  expect(foreign()).toContain("dishes/status: update,patch");
});

test("rbacManifests grants the verbs that permit more than access, of subresources too, and by name", () => {
  const { permissions } = declarationsOf({
    name: "tenant",
    uses: [
      allow(ClusterRole, "bind", { names: ["edit", "admin"] }),
      allow(ClusterRole, "get", "escalate"),
      allow(ServiceAccount, "impersonate", "token/create"),
      allow(resource("authentication.k8s.io/v1", "UserExtra"), "example.test/scopes/impersonate"),
      allow(resource("certificates.k8s.io/v1", "Signer"), "approve", "sign", { names: ["example.test/one"] }),
    ],
    reconcile: async () => {},
  });
  const [role] = rbacManifests([permissions], { account, namespaces: [] }) as readonly Role[];
  expect(role!.rules).toEqual([
    { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] },
    { apiGroups: [""], resources: ["serviceaccounts/token"], verbs: ["create"] },
    { apiGroups: ["authentication.k8s.io"], resources: ["userextras/example.test/scopes"], verbs: ["impersonate"] },
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["signers"],
      resourceNames: ["example.test/one"],
      verbs: ["approve", "sign"],
    },
    { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["get", "escalate"] },
    {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["clusterroles"],
      resourceNames: ["admin", "edit"],
      verbs: ["bind"],
    },
  ]);
});
