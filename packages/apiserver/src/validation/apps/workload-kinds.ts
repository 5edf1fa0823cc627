/** Validates workloads. */
import type { Fields, KubeObject } from "../../hooks.ts";
import { claimSpec } from "../core/claim-rules.ts";
import type { Field } from "../field.ts";
import { inner } from "../fill.ts";
import { dnsLabel } from "../formats.ts";
import { isSameStored } from "../stored-values.ts";
import { amount, intOrPercent, notMoreThanAll } from "../numbers.ts";
import { podTemplate, templateMetadata } from "../core/pod-rules.ts";
import type { RuleTable } from "../rules.ts";
import { labelSelector } from "../selector-rules.ts";
import { selects as labelsMatch } from "../../request/label-selector.ts";

const mismatch = "`selector` does not match template `labels`";

function selects(selector: unknown, labels: unknown): boolean {
  try {
    return labelsMatch(selector as Fields)((labels ?? {}) as Record<string, string>);
  } catch {
    return true;
  }
}

/**
 * Validates the selector and the template of a workload of apps/v1.
 *
 * @returns whether the rest of the template is to be validated
 */
function selected(spec: Field, kind: "deployment" | "daemonset" | "statefulset" | "replica set"): boolean {
  const selector = spec.at("selector");
  const before = selector.errors.length;
  if (!selector.present) {
    if (kind !== "daemonset") selector.required();
  } else {
    labelSelector(selector);
    const isEmpty = selector.at("matchLabels").empty && selector.at("matchExpressions").empty;
    if (isEmpty) {
      if (kind === "replica set") selector.invalid("empty selector is invalid for deployment", selector.value);
      else selector.invalid(`empty selector is invalid for ${kind}`, selector.value);
    }
    if (selector.errors.length > before && !isEmpty) {
      if (kind === "deployment" || kind === "replica set") {
        selector.invalid("invalid label selector", selector.value);
      } else if (kind === "statefulset") selector.invalid("", selector.value);
    }
  }
  const labels = spec.at("template").at("metadata").at("labels");
  const broken = selector.errors.length > before;
  if (!selector.present || !broken) {
    if (!selector.present || !selects(selector.value, labels.value)) labels.invalid(mismatch, labels.value ?? null);
  }
  return kind === "daemonset" || !broken || !selector.present || isEmptySelector(selector);
}

function isEmptySelector(selector: Field): boolean {
  return selector.at("matchLabels").empty && selector.at("matchExpressions").empty;
}

function always(spec: Field, kind = "ReplicaSet"): void {
  const policy = spec.at("template").at("spec").at("restartPolicy");
  if (policy.text !== "Always") policy.oneOf(["Always"]);
  const deadline = spec.at("template").at("spec").at("activeDeadlineSeconds");
  if (deadline.present) deadline.forbidden(`activeDeadlineSeconds in ${kind} is not Supported`);
}

function deployment(object: Field): void {
  const spec = object.at("spec");
  spec.at("replicas").nonNegative();
  if (selected(spec, "deployment")) {
    podTemplate(spec.at("template"));
    always(spec);
  }
  const strategy = spec.at("strategy");
  const rolling = strategy.at("rollingUpdate");
  if (strategy.at("type").text === "Recreate") {
    if (rolling.present) rolling.forbidden("may not be specified when strategy `type` is 'Recreate'");
  } else if (strategy.at("type").text === "RollingUpdate") rollingUpdate(rolling);
  else {
    strategy.add("NotSupported", 'supported values: "Recreate", "RollingUpdate"', strategy.value ?? {});
  }
  for (const name of ["minReadySeconds", "revisionHistoryLimit"]) spec.at(name).nonNegative();
  const progress = spec.at("progressDeadlineSeconds");
  if (!progress.present) return;
  progress.nonNegative();
  if (progress.number <= spec.at("minReadySeconds").number) progress.invalid("must be greater than minReadySeconds");
}

function rollingUpdate(rolling: Field): void {
  if (!rolling.present) return rolling.required("this should be defaulted and never be nil");
  const [unavailable, surge] = [rolling.at("maxUnavailable"), rolling.at("maxSurge")];
  intOrPercent(unavailable);
  intOrPercent(surge);
  if (amount(unavailable.value) === 0 && amount(surge.value) === 0) {
    unavailable.invalid("may not be 0 when `maxSurge` is 0", unavailable.value);
  }
  notMoreThanAll(unavailable);
}

function daemonSet(object: Field): void {
  const spec = object.at("spec");
  selected(spec, "daemonset");
  podTemplate(spec.at("template"));
  always(spec, "DaemonSet");
  spec.at("minReadySeconds").nonNegative();
  const strategy = spec.at("updateStrategy");
  const type = strategy.at("type").text;
  const rolling = strategy.at("rollingUpdate");
  if (type === "RollingUpdate") {
    const [unavailable, surge] = [rolling.at("maxUnavailable"), rolling.at("maxSurge")];
    intOrPercent(unavailable);
    notMoreThanAll(unavailable);
    intOrPercent(surge);
    notMoreThanAll(surge);
    const [some, more] = [amount(unavailable.value), amount(surge.value)];
    if (some === 0 && more === 0) unavailable.required("cannot be 0 when maxSurge is 0");
    else if (some !== 0 && more !== 0) surge.invalid("may not be set when maxUnavailable is non-zero", surge.value);
  } else if (type !== "OnDelete") {
    strategy.add("NotSupported", 'supported values: "RollingUpdate", "OnDelete"', strategy.value ?? {});
  }
  spec.at("revisionHistoryLimit").nonNegative();
}

const changeable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

function statefulSet(object: Field, isNew: boolean): void {
  const spec = object.at("spec");
  const policy = spec.at("podManagementPolicy");
  if (policy.text === "") policy.required();
  else if (policy.text !== "OrderedReady" && policy.text !== "Parallel")
    policy.invalid("must be 'OrderedReady' or 'Parallel'");
  const strategy = spec.at("updateStrategy");
  const [type, rolling] = [strategy.at("type"), strategy.at("rollingUpdate")];
  if (type.text === "OnDelete") {
    if (rolling.present) rolling.invalid("only allowed for updateStrategy 'RollingUpdate'");
  } else if (type.text === "RollingUpdate") {
    rolling.at("partition").nonNegative();
    const unavailable = rolling.at("maxUnavailable");
    if (unavailable.present) intOrPercent(unavailable);
  } else if (type.text === "") strategy.required();
  else strategy.invalid("must be 'RollingUpdate' or 'OnDelete'");
  for (const name of ["whenDeleted", "whenScaled"]) {
    const retention = spec.at("persistentVolumeClaimRetentionPolicy").at(name);
    retention.oneOf(["Retain", "Delete"], { sorted: false });
  }
  const claims = spec.at("volumeClaimTemplates");
  if (isNew) for (const claim of claims.items) claimSpec(claim.at("spec"));
  for (const name of ["replicas", "minReadySeconds"]) spec.at(name).nonNegative();
  if (spec.at("ordinals").present) spec.at("ordinals").at("start").nonNegative();
  const serviceName = spec.at("serviceName");
  if (isNew && serviceName.text !== "") serviceName.matches(dnsLabel);
  const template = spec.at("template");
  if (selected(spec, "statefulset")) {
    podTemplate(template.with(withClaims(template, claims)));
    // The server validates the metadata of a template twice.
    templateMetadata(template);
  }
  always(spec, "StatefulSet");
}

/** Returns the template with a volume for each claim, as the pods will have them. */
function withClaims(template: Field, claims: Field): Fields {
  const spec = template.at("spec");
  const names = claims.items.map((claim) => claim.at("metadata").at("name").text);
  const volumes = [...new Set(names)].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const own = spec
    .at("volumes")
    .items.flatMap(({ fields }) => (names.includes(String(fields["name"])) ? [] : [fields]));
  const { subdomain: _, hostname: __, ...rest } = spec.fields;
  return { ...template.fields, spec: { ...rest, volumes: [...volumes, ...own] } };
}

function replicationController(object: Field): void {
  const spec = object.at("spec");
  spec.at("minReadySeconds").nonNegative();
  const selector = spec.at("selector");
  selector.require();
  spec.at("replicas").nonNegative();
  const template = spec.at("template");
  if (!template.present) return template.required();
  const labels = template.at("metadata").at("labels");
  if (!selector.empty && !selects({ matchLabels: selector.fields }, labels.value))
    labels.invalid(mismatch, labels.value ?? null);
  podTemplate(template);
  always(spec, "ReplicationController");
}

const tooMany = "cannot be greater than status.replicas";

/** Validates counts of pods: none is negative, and some do not exceed the total. */
function counts(status: Field, names: readonly string[], notAbove: readonly string[]): void {
  for (const name of names) status.at(name).nonNegative();
  for (const name of notAbove) {
    const count = status.at(name);
    if (count.number > status.at("replicas").number) count.invalid(tooMany, count.number);
  }
}

function replicaCounts(object: Field): void {
  const some = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
  const status = object.at("status");
  counts(status, ["replicas", ...some, "observedGeneration", "terminatingReplicas"], some);
  const [ready, available] = [status.at("readyReplicas"), status.at("availableReplicas")];
  if (available.number > ready.number) available.invalid("cannot be greater than readyReplicas", available.number);
}

function deploymentCounts(object: Field, old: Fields): void {
  const status = object.at("status");
  const names = ["observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"];
  counts(
    status,
    [...names, "unavailableReplicas", "terminatingReplicas", "collisionCount"],
    ["updatedReplicas", "readyReplicas", "availableReplicas"],
  );
  const [ready, available] = [status.at("readyReplicas"), status.at("availableReplicas")];
  if (available.number > ready.number) available.invalid("cannot be greater than readyReplicas", available.number);
  notLess(status.at("collisionCount"), inner(old, "status")["collisionCount"]);
}

function statefulCounts(object: Field, old: Fields): void {
  const status = object.at("status");
  const some = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
  counts(status, ["replicas", ...some, "observedGeneration", "collisionCount"], some);
  const [ready, available] = [status.at("readyReplicas"), status.at("availableReplicas")];
  if (available.number > ready.number)
    available.invalid("cannot be greater than status.readyReplicas", available.number);
  notLess(status.at("collisionCount"), inner(old, "status")["collisionCount"]);
}

function daemonCounts(object: Field, old: Fields): void {
  const status = object.at("status");
  const names = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
  ];
  counts(status, names, []);
  notLess(status.at("collisionCount"), inner(old, "status")["collisionCount"]);
}

/** Validates a counter that only increases. */
function notLess(count: Field, before: unknown): void {
  if (before === undefined) return;
  if (!count.present || count.number < Number(before)) count.invalid("cannot be decremented", count.number);
}

const templateGeneration = "deprecated.daemonset.template.generation";

function rollingOf(object: KubeObject): Fields {
  return inner(inner(inner(object, "spec"), "updateStrategy"), "rollingUpdate");
}

function sameSelector(object: Field, old: Fields): void {
  object.at("spec").at("selector").immutable(inner(old, "spec")["selector"]);
}

export const workloadKinds: RuleTable = {
  "apps/Deployment": {
    status: deploymentCounts,
    check: (object, { old }) => {
      deployment(object);
      if (old !== undefined) sameSelector(object, old);
    },
  },
  "apps/DaemonSet": {
    check: daemonSet,
    update: sameSelector,
    updateFirst: true,
    status: daemonCounts,
    prepare: ({ metadata }) => void (metadata.annotations = { ...metadata.annotations, [templateGeneration]: "1" }),
    prepareUpdate: ({ metadata, spec }, old, { subresource, row }) => {
      if (subresource !== "") return;
      const before = Number(old.metadata.annotations?.[templateGeneration] ?? 0);
      const [next, earlier] = [(spec as Fields)["template"], inner(old, "spec")["template"]];
      const isSame = isSameStored({ row, path: "spec.template" }, next, earlier);
      metadata.annotations = { ...metadata.annotations, [templateGeneration]: String(isSame ? before : before + 1) };
    },
  },
  "apps/ReplicaSet": {
    check: (object, { old }) => {
      const spec = object.at("spec");
      spec.at("replicas").nonNegative();
      spec.at("minReadySeconds").nonNegative();
      if (selected(spec, "replica set")) {
        podTemplate(spec.at("template"));
        always(spec);
      }
      if (old !== undefined) sameSelector(object, old);
    },
    status: replicaCounts,
  },
  "apps/StatefulSet": {
    // The feature is disabled.
    prepare: (object) => void delete rollingOf(object)["maxUnavailable"],
    prepareUpdate: (next) => void delete rollingOf(next)["maxUnavailable"],
    status: statefulCounts,
    check: (object, { old }) => statefulSet(object, old === undefined),
    update: (object, old, { write: { row } }) => {
      const [next, before] = [{ ...object.at("spec").fields }, { ...inner(old, "spec") }];
      for (const name of changeable) {
        delete next[name];
        delete before[name];
      }
      if (!isSameStored({ row, path: "spec" }, next, before)) {
        const [last = "", ...first] = changeable.map((name) => `'${name}'`).toReversed();
        object
          .at("spec")
          .forbidden(
            `updates to statefulset spec for fields other than ${first.toReversed().join(", ")} and ${last} are forbidden`,
          );
      }
    },
  },
  "apps/ControllerRevision": {
    check: (object, { old }) => {
      const data = object.at("data");
      object.at("revision").nonNegative();
      if (old !== undefined) return;
      if (!data.present) data.required("data is mandatory");
      else if (typeof data.value !== "object") data.required("data must be a valid JSON object");
    },
    update: (object, old) => object.at("data").immutable(old["data"]),
  },
  "/ReplicationController": {
    check: replicationController,
    status: replicaCounts,
    selectable: { "status.replicas": (object: KubeObject) => String(inner(object, "status")["replicas"] ?? 0) },
  },
};
