/** Kinds whose life cycle the server itself manages: namespaces and CustomResourceDefinitions. */
import type { FieldError } from "../field-error.ts";
import type { Fields, KindBehaviour, KindRow, KubeObject, WriteContext } from "../hooks.ts";
import { validateDefinition } from "../schema/definition.ts";
import { unknownFormats } from "../schema/formats.ts";
import { specOf } from "./custom-rows.ts";

/** Adds the server's own behaviour in front of a kind's. */
export function withLifecycle(row: KindRow, behaviour: KindBehaviour): KindBehaviour {
  const own = behaviours[`${row.group}/${row.kind}`];
  if (own === undefined) return behaviour;
  const { validate } = own;
  return {
    ...behaviour,
    ...(validate && {
      validateCreate: (object, context) => {
        const errors = [...(behaviour.validateCreate?.(object, context) ?? []), ...validate(object)];
        if (errors.length === 0) warnOfFormats(object, context);
        return errors;
      },
      validateUpdate: (next, old, context) => [
        ...(behaviour.validateUpdate?.(next, old, context) ?? []),
        ...(context.subresource === "" ? validate(next, old) : []),
      ],
    }),
    default(object, context) {
      own.default?.(object, context);
      behaviour.default?.(object, context);
    },
    prepareForCreate(object, context) {
      own.prepareForCreate?.(object, context);
      behaviour.prepareForCreate?.(object, context);
    },
    prepareForUpdate(next, old, context) {
      own.prepareForUpdate?.(next, old, context);
      behaviour.prepareForUpdate?.(next, old, context);
    },
  };
}

/** Warns of formats that are not checked. */
function warnOfFormats(object: KubeObject, { warn }: Pick<WriteContext, "warn">): void {
  for (const format of unknownFormats(specOf(object).versions)) warn(`unrecognized format ${JSON.stringify(format)}`);
}

const autoscalerMetrics = "autoscaling.alpha.kubernetes.io/metrics";

const namespaceLabel = "kubernetes.io/metadata.name";

interface OwnBehaviour extends Pick<KindBehaviour, "default" | "prepareForCreate" | "prepareForUpdate"> {
  readonly validate?: (object: KubeObject, old?: KubeObject) => readonly FieldError[];
}

const behaviours: Readonly<Record<string, OwnBehaviour>> = {
  "/Namespace": {
    default({ metadata }) {
      if (metadata.name) metadata.labels = { ...metadata.labels, [namespaceLabel]: metadata.name };
    },
    prepareForCreate(object) {
      const { metadata } = object;
      metadata.labels = { ...metadata.labels, [namespaceLabel]: metadata.name ?? "" };
      object["status"] = { phase: "Active" };
      const { finalizers = [] } = (object["spec"] ?? {}) as { finalizers?: string[] };
      const all = finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"];
      object["spec"] = { ...(object["spec"] as Fields | undefined), finalizers: all };
    },
    prepareForUpdate(next, old, { subresource }) {
      if (subresource === "") next["spec"] = old["spec"];
    },
  },
  "autoscaling/HorizontalPodAutoscaler": {
    default(object, { row }) {
      if (row.version !== "v1" || object.metadata.annotations?.[autoscalerMetrics] !== undefined) return;
      const spec = object["spec"] as Fields | undefined;
      if (spec !== undefined) spec["targetCPUUtilizationPercentage"] ??= 80;
    },
  },
  "apiextensions.k8s.io/CustomResourceDefinition": {
    default: completeDefinition,
    validate: validateDefinition,
    prepareForCreate(object) {
      object["status"] = {
        conditions: null,
        acceptedNames: { plural: "", kind: "" },
        storedVersions: stored(object, []),
      };
    },
    prepareForUpdate(next, old, { subresource }) {
      if (subresource !== "") return;
      const status = (old["status"] ?? {}) as { storedVersions?: string[] };
      next["status"] = { ...status, storedVersions: stored(next, status.storedVersions ?? []) };
    },
  },
};

function completeDefinition(object: KubeObject): void {
  const spec = object["spec"] as (Fields & { names?: Fields }) | undefined;
  if (typeof spec !== "object" || spec === null) return;
  const { names } = spec;
  const kind = names?.["kind"];
  if (names !== undefined && names !== null && typeof kind === "string" && kind !== "") {
    names["singular"] ||= kind.toLowerCase();
    names["listKind"] ||= `${kind}List`;
  }
  spec["conversion"] ??= { strategy: "None" };
}

/** Returns every version in which objects may be stored. */
function stored(object: KubeObject, before: readonly string[]): string[] {
  const { versions } = specOf(object);
  const now = (Array.isArray(versions) ? versions : []).filter(({ storage }) => storage).map(({ name }) => name);
  return [...new Set([...before, ...now])];
}
