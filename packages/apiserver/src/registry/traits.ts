/** Lists the kinds whose writes differ from the usual behaviour. */
import type { KindRow } from "../hooks.ts";

export interface Traits {
  /** A PUT without a resource version replaces any version. */
  readonly unconditionalUpdate: boolean;
  /** A PUT of an object that does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** DELETE returns the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly collectsGarbage: boolean;
  /** By default a deletion orphans dependents, as deletions in these versions always did. */
  readonly orphansByDefault: boolean;
  /**
   * The part of the object whose change raises the generation; `first` never counts further, `later` begins with the
   * first change, `asked` compares the spec before disabled fields are dropped.
   */
  readonly generation: "none" | "spec" | "all" | "first" | "later" | "asked";
  /** A new object keeps the status that it was sent with. */
  readonly keepsNewStatus: boolean;
}

const conditional = new Set([
  "node.k8s.io/runtimeclasses",
  "policy/poddisruptionbudgets",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/csistoragecapacities",
  "storage.k8s.io/volumeattachments",
  "storage.k8s.io/csinodes",
  "coordination.k8s.io/leases",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/validatingwebhookconfigurations",
  "apiextensions.k8s.io/customresourcedefinitions",
  "apiregistration.k8s.io/apiservices",
]);

const createdOnUpdate = new Set([
  "node.k8s.io/runtimeclasses",
  "rbac.authorization.k8s.io/roles",
  "rbac.authorization.k8s.io/rolebindings",
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/clusterrolebindings",
  "coordination.k8s.io/leases",
  "/limitranges",
  "/events",
  "events.k8s.io/events",
  "/services",
  "/endpoints",
]);

const answeredWhenDeleted = new Set([
  "resource.k8s.io/resourceclaimtemplates",
  "resource.k8s.io/resourceslices",
  "resource.k8s.io/resourceclaims",
  "resource.k8s.io/deviceclasses",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/storageclasses",
  "storage.k8s.io/volumeattachments",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/volumeattributesclasses",
  "/resourcequotas",
  "/persistentvolumes",
  "/persistentvolumeclaims",
  "/serviceaccounts",
  "/namespaces",
  "/pods",
  "/services",
  "/podtemplates",
]);

const generations: Readonly<Record<string, Traits["generation"]>> = {
  "scheduling.k8s.io/priorityclasses": "first",
  "networking.k8s.io/ingressclasses": "spec",
  "networking.k8s.io/networkpolicies": "spec",
  "networking.k8s.io/ingresses": "spec",
  "policy/poddisruptionbudgets": "spec",
  "discovery.k8s.io/endpointslices": "all",
  "resource.k8s.io/resourceslices": "asked",
  "resource.k8s.io/deviceclasses": "spec",
  "storage.k8s.io/csidrivers": "later",
  "flowcontrol.apiserver.k8s.io/flowschemas": "spec",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": "spec",
  "apps/daemonsets": "spec",
  "apps/statefulsets": "spec",
  "apps/deployments": "spec",
  "apps/replicasets": "spec",
  "batch/jobs": "spec",
  "batch/cronjobs": "spec",
  "/pods": "spec",
  "/podtemplates": "all",
  "/replicationcontrollers": "spec",
  "admissionregistration.k8s.io/validatingadmissionpolicies": "spec",
  "admissionregistration.k8s.io/mutatingadmissionpolicies": "spec",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": "spec",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": "spec",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": "all",
  "admissionregistration.k8s.io/validatingwebhookconfigurations": "all",
  "apiextensions.k8s.io/customresourcedefinitions": "spec",
};

export function traitsOf(row: KindRow): Traits {
  if (row.custom) {
    return {
      unconditionalUpdate: false,
      createOnUpdate: false,
      returnsDeleted: false,
      collectsGarbage: true,
      orphansByDefault: false,
      generation: "all",
      keepsNewStatus: false,
    };
  }
  const name = `${row.group}/${row.plural}`;
  return {
    unconditionalUpdate: !conditional.has(name),
    createOnUpdate: createdOnUpdate.has(name),
    returnsDeleted: answeredWhenDeleted.has(name),
    orphansByDefault: name === "/replicationcontrollers" || name === "batch/jobs",
    collectsGarbage: name !== "/events" && name !== "events.k8s.io/events",
    generation: generations[name] ?? "none",
    keepsNewStatus: name === "/nodes",
  };
}
