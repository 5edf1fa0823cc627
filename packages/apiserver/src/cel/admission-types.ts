/** The types of the variables in expressions of admission policies and of webhooks' match conditions. */
import { patchesMark, type Variables } from "./checker.ts";
import { bool, dyn, int, listOf, mapOf, parseType, string, struct, timestamp, type Type } from "./type.ts";

function object(name: string, fields: Readonly<Record<string, Type>>): Type {
  const known = new Map(Object.entries(fields));
  return struct(name, () => known);
}

const kind = object("kubernetes.GroupVersionKind", { group: string, version: string, kind: string });
const resource = object("kubernetes.GroupVersionResource", { group: string, version: string, resource: string });
const user = object("kubernetes.UserInfo", {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
});
const request = object("kubernetes.AdmissionRequest", {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: user,
  dryRun: bool,
  options: dyn,
});
const condition = object("kubernetes.NamespaceCondition", {
  status: string,
  type: string,
  lastTransitionTime: timestamp,
  message: string,
  reason: string,
});
const namespace = object("kubernetes.Namespace", {
  metadata: object("kubernetes.NamespaceMetadata", {
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string, string),
    annotations: mapOf(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: object("kubernetes.NamespaceSpec", { finalizers: listOf(string) }),
  status: object("kubernetes.NamespaceStatus", { conditions: listOf(condition), phase: string }),
});

export interface AdmissionScope {
  /** Whether the policy names a kind of parameters. */
  readonly params: boolean;
  /** Whether `authorizer` exists; message expressions have none. @default true */
  readonly authorizer?: boolean;
  /** Whether the expressions make patches. */
  readonly patches?: boolean;
  /** The types of the preceding variables by name; `undefined` where there can be none. */
  readonly variables?: ReadonlyMap<string, Type> | undefined;
}

export function admissionVariables({
  params,
  authorizer = true,
  patches = false,
  variables,
}: AdmissionScope): Variables {
  const known = new Map<string, Type>([
    ["object", dyn],
    ["oldObject", dyn],
    ["namespaceObject", namespace],
    ["request", request],
  ]);
  if (params) known.set("params", dyn);
  if (patches) known.set(patchesMark, dyn);
  if (authorizer) {
    known.set("authorizer", parseType("kubernetes.authorization.Authorizer"));
    known.set("authorizer.requestResource", parseType("kubernetes.authorization.ResourceCheck"));
  }
  if (variables !== undefined)
    known.set(
      "variables",
      struct("kubernetes.variables", () => variables),
    );
  return known;
}
