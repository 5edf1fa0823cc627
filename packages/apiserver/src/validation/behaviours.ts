/** The behaviour of each kind beyond its schema, composed from the tables of this folder. */
import type { FieldError } from "../field-error.ts";
import type { Fields, KindBehaviour, KindRow, KubeObject, WriteContext } from "../hooks.ts";
import { defaulting } from "./apply-table.ts";
import { Field } from "./field.ts";
import { inner } from "./fill.ts";
import { nameFormat, validateMetadata, validateMetadataUpdate } from "./metadata.ts";
import { dropUnavailable } from "./core/pod-kind.ts";
import { warningsOf } from "../warnings/warnings.ts";
import { ruleTables } from "./rule-tables.ts";
import { type Format, pathSegment } from "./formats.ts";
import type { Rules } from "./rules.ts";

const none: Rules = {};

/**
 * Kinds whose registry validates the metadata of an update also like that of a new object, so that each error appears
 * twice.
 */
const checkedAnew = new Set([
  "/ConfigMap",
  "/Namespace",
  "/Pod",
  "/Secret",
  "/ServiceAccount",
  "apps/ControllerRevision",
  "batch/Job",
]);
/** Kinds whose registry validates the metadata of an update only like that of a new object. */
const checkedAnewOnly = new Set([
  "admissionregistration.k8s.io/MutatingAdmissionPolicy",
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding",
  "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
]);
/** Kinds whose registry validates the metadata of an update only by the common rules. */
const checkedByAllOnly = new Set(["/Event", "policy/PodDisruptionBudget"]);

/** Returns the behaviour of a built-in kind, or of custom resources. */
export function behaviourOf(row: KindRow): KindBehaviour {
  const rules = row.custom ? none : (ruleTables[`${row.group}/${row.kind}`] ?? none);
  const defaults = row.custom ? undefined : defaulting(row);
  const format = rules.name ?? nameFormat(row);
  const { prepare, prepareUpdate, selectable } = rules;
  const hasPods = Object.hasOwn(templates, `${row.group}/${row.kind}`) || undefined;
  return {
    ...(defaults && { default: (object) => defaults(object) }),
    ...((prepare ?? hasPods) && {
      prepareForCreate: (object, write) => {
        if (hasPods) dropUnavailable(podSpecOf(object, row)?.fields ?? {});
        prepare?.(object, write);
      },
    }),
    ...((prepareUpdate ?? hasPods) && {
      prepareForUpdate: (next, old, write) => {
        if (hasPods && write.subresource === "") dropUnavailable(podSpecOf(next, row)?.fields ?? {});
        prepareUpdate?.(next, old, write);
      },
    }),
    ...(selectable && { selectableFields: selectable }),
    validateCreate(object, write) {
      const errors: FieldError[] = [];
      const root = new Field("", object, { errors, row: write.row });
      // kube-apiserver does not validate an object of another kind any further.
      if (row.custom && object.kind !== row.kind) {
        root.at("kind").invalid(`must be ${row.kind}`);
        return errors;
      }
      const when = rules.metadata ?? "first";
      const own = rules.nameFor?.(object) ?? format;
      if (when === "first") validateMetadata(root.at("metadata"), { row, format: own });
      rules.check?.(root, { write, object, old: undefined });
      if (when === "last") validateMetadata(root.at("metadata"), { row, format });
      rules.checkLast?.(root);
      if (when === "alone" && errors.length === 0) validateMetadata(root.at("metadata"), { row, format });
      return errors;
    },
    warnings: (object, old, subresource) => warningsOf(row, object, { old, subresource }),
    validateUpdate(next, old, write) {
      return changed({ rules, next, old, write, row, format: rules.nameFor?.(next) ?? format });
    },
  };
}

const templates: Readonly<Record<string, string>> = {
  "/Pod": "spec",
  "/PodTemplate": "template.spec",
  "/ReplicationController": "spec.template.spec",
  "apps/DaemonSet": "spec.template.spec",
  "apps/Deployment": "spec.template.spec",
  "apps/ReplicaSet": "spec.template.spec",
  "apps/StatefulSet": "spec.template.spec",
  "batch/Job": "spec.template.spec",
  "batch/CronJob": "spec.jobTemplate.spec.template.spec",
};

/** Returns the pod spec that an object has or contains. */
function podSpecOf(object: KubeObject, { group, kind }: KindRow): { fields: Fields; path: string } | undefined {
  const path = templates[`${group}/${kind}`];
  if (path === undefined) return undefined;
  return { fields: path.split(".").reduce<Fields>(inner, object), path };
}

interface ChangeOf {
  readonly rules: Rules;
  readonly next: KubeObject;
  readonly old: KubeObject;
  readonly write: WriteContext;
  readonly row: KindRow;
  readonly format: Format;
}

function changed({ rules, next, old, write, row, format }: ChangeOf): FieldError[] {
  const errors: FieldError[] = [];
  const root = new Field("", next, { errors, row });
  const metadata = root.at("metadata");
  const kind = `${row.group}/${row.kind}`;
  validateMetadata(metadata, { row, format: pathSegment, isBasic: true });
  validateMetadataUpdate(metadata, old);
  if (row.group === "rbac.authorization.k8s.io" || (kind === "batch/Job" && write.subresource === "")) {
    // The registry validates an update as a new object before it compares it with the old one.
    validateMetadata(metadata, { row, format });
    rules.check?.(root, { write, object: next, old });
    validateMetadataUpdate(metadata, old, row);
    rules.update?.(root, old, { write, object: next, old });
    return errors;
  }
  if (!checkedByAllOnly.has(kind) && !checkedAnewOnly.has(kind)) validateMetadataUpdate(metadata, old, row);
  const isAnew = checkedAnew.has(kind) && !(kind === "/Pod" && write.subresource === "status");
  if (isAnew || checkedAnewOnly.has(kind)) validateMetadata(metadata, { row, format });
  const context = { write, object: next, old };
  if (write.subresource === "status") {
    rules.status?.(root, old, context);
    return errors;
  }
  if (rules.updateFirst === true) rules.update?.(root, old, context);
  if (rules.checkNewOnly !== true) rules.check?.(root, context);
  if (rules.updateFirst !== true) rules.update?.(root, old, context);
  return errors;
}
