/** Types and properties that the documents do not tell, by schema name. */
import type { Schema } from "./documents.ts";

export const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
export const extensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

/** Types and docstrings that the documents cannot express, by schema name. */
export const byHand: ReadonlyMap<string, { readonly type: string; readonly docs: string }> = new Map([
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Time", { type: "string", docs: "RFC 3339, to the second." }],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", { type: "string", docs: "RFC 3339, to the microsecond." }],
  [
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    { type: "string | number", docs: 'Such as `"500m"`, `"1Gi"` or 2; the server answers with a string.' },
  ],
  [
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    { type: "number | string", docs: 'A number, or a name or percentage such as `"25%"`.' },
  ],
  [
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
    { type: "{ readonly [key: string]: unknown }", docs: "An object of a kind known elsewhere." },
  ],
  [`${extensions}.JSON`, { type: "unknown", docs: "Any JSON value." }],
  [
    `${extensions}.JSONSchemaPropsOrArray`,
    { type: "JSONSchemaProps | readonly JSONSchemaProps[]", docs: "One schema, or one for each item." },
  ],
  [
    `${extensions}.JSONSchemaPropsOrBool`,
    { type: "JSONSchemaProps | boolean", docs: "A schema, or whether anything is allowed." },
  ],
  [
    `${extensions}.JSONSchemaPropsOrStringArray`,
    { type: "JSONSchemaProps | readonly string[]", docs: "A schema, or names of properties." },
  ],
]);

/** Schemas that have a hand-written type in `src/resource/meta.ts`. */
export const imported: ReadonlyMap<string, string> = new Map([
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Condition", "Condition"],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference", "OwnerReference"],
]);

/** Fields of nested metadata that nobody writes and that templates do not have. */
export const serverOnly = new Set(["managedFields", "selfLink"]);

/**
 * Fields that the server returns as `null` when they are empty, because their Go fields have no `omitempty`; the
 * documents do not say so. Fields that validation never leaves empty are not included.
 */
export const nullable: ReadonlySet<string> = new Set([
  `${objectMeta}.creationTimestamp`,
  "io.k8s.api.authentication.v1.TokenRequestSpec.boundObjectRef",
  "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus.currentMetrics",
  "io.k8s.api.core.v1.AzureFilePersistentVolumeSource.secretNamespace",
  "io.k8s.api.core.v1.Event.eventTime",
  "io.k8s.api.core.v1.ProjectedVolumeSource.sources",
  "io.k8s.api.core.v1.TypedLocalObjectReference.apiGroup",
  "io.k8s.api.core.v1.TypedObjectReference.apiGroup",
  "io.k8s.api.discovery.v1.EndpointSlice.endpoints",
  "io.k8s.api.discovery.v1.EndpointSlice.ports",
  "io.k8s.api.events.v1.Event.eventTime",
  "io.k8s.api.rbac.v1.ClusterRole.rules",
  "io.k8s.api.rbac.v1.Role.rules",
  "io.k8s.api.resource.v1.AllocatedDeviceStatus.conditions",
  "io.k8s.api.resource.v1.DeviceClaim.requests",
  "io.k8s.api.storage.v1.CSINodeDriver.topologyKeys",
  "io.k8s.api.storage.v1.CSINodeSpec.drivers",
  `${extensions}.CustomResourceDefinitionStatus.conditions`,
]);

/** Checks the tables. @throws when they name something that the documents do not have, such as after a new release. */
export function refuseUnknownNames(schemas: ReadonlyMap<string, Schema>): void {
  const unknown = [
    ...[...byHand.keys(), ...imported.keys(), objectMeta].filter((id) => !schemas.has(id)),
    ...[...nullable].filter((path) => {
      const dot = path.lastIndexOf(".");
      return !schemas.get(path.slice(0, dot))?.properties?.[path.slice(dot + 1)];
    }),
  ];
  if (unknown.length > 0) throw new Error(`scripts/generate/by-hand.ts names what is not there: ${unknown.join(", ")}`);
}
