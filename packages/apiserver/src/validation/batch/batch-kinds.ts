/** Validates jobs, cron jobs, autoscalers and disruption budgets. */
import { deepEquals } from "#platform/equality";
import type { Fields } from "../../hooks.ts";
import { isNegative } from "../quantities.ts";
import { conditionList } from "../condition-rules.ts";
import { cronProblem, isZone } from "./cron-format.ts";
import type { Field } from "../field.ts";
import { inner } from "../fill.ts";
import { dnsLabel, pathSegment, tooLong } from "../formats.ts";
import { intOrPercent, notMoreThanAll } from "../numbers.ts";
import { tolerations } from "../core/scheduling-rules.ts";
import { job } from "./job-kind.ts";
import { jobSpec } from "./job-spec.ts";
import { containerResourceName, requirements } from "../core/resource-rules.ts";
import { metricSource } from "../autoscaling/metric-rules.ts";
import { validateLabels } from "../metadata.ts";
import type { Rules, RuleTable } from "../rules.ts";
import { labelSelector } from "../selector-rules.ts";

const cronJob: Rules = {
  check: (object, { old }) => {
    const spec = object.at("spec");
    const schedule = spec.at("schedule");
    if (schedule.text === "") schedule.required();
    else {
      const wrong = cronProblem(schedule.text);
      if (wrong !== undefined) schedule.invalid(wrong);
      if (schedule.text.includes("TZ")) {
        // A schedule with a time zone used to be allowed, and may stay unchanged.
        const hadZone = String(inner(old ?? {}, "spec")["schedule"] ?? "").includes("TZ");
        if (!hadZone) schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        else if (spec.at("timeZone").present)
          schedule.invalid("cannot use both timeZone field and TZ or CRON_TZ in schedule");
      }
    }
    for (const name of ["startingDeadlineSeconds"]) spec.at(name).nonNegative();
    const zone = spec.at("timeZone");
    if (zone.present) timeZone(zone);
    const policy = spec.at("concurrencyPolicy");
    if (policy.require()) policy.oneOf(["Allow", "Forbid", "Replace"]);
    for (const name of ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]) spec.at(name).nonNegative();
    const template = spec.at("jobTemplate").at("spec");
    jobSpec(template);
    if (template.at("selector").present) template.at("selector").invalid("`selector` will be auto-generated");
    if (template.at("manualSelector").value === true)
      template.at("manualSelector").add("NotSupported", 'supported values: "nil", "false"', true);
    const name = object.at("metadata").at("name");
    if (old === undefined && name.text.length > 52) name.invalid(tooLong(52));
  },
};

function timeZone(zone: Field): void {
  if (zone.text === "") return zone.invalid("timeZone must be nil or non-empty string");
  if (zone.text.toLowerCase() === "local")
    return zone.invalid("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  if (!isZone(zone.text)) zone.invalid(`unknown time zone ${zone.text}`);
}

const scaler: Rules = {
  check: (object, { write }) => {
    const spec = object.at("spec");
    const [least, most] = [spec.at("minReplicas"), spec.at("maxReplicas")];
    if (least.present && least.number < 1) least.invalid("must be greater than or equal to 1");
    if (most.number === 0) most.required("must be set and greater than 0");
    else if (most.number < 1) most.invalid("must be greater than or equal to 1");
    if (least.present && most.number < least.number)
      most.invalid("must be greater than or equal to `minReplicas`", most.number);
    const reference = spec.at("scaleTargetRef");
    for (const name of ["kind", "name"]) if (reference.at(name).require()) reference.at(name).matches(pathSegment);
    const version = reference.at("apiVersion");
    if (version.text.split("/").length > 2)
      version.invalid(`unexpected GroupVersion string: ${version.text}`, version.text);
    else if (!version.text.includes("/") && version.text !== "v1")
      version.invalid("apiVersion must specify API group", version.text);
    if (write.row.version === "v1") {
      const percentage = spec.at("targetCPUUtilizationPercentage");
      if (percentage.present && percentage.number < 1) {
        spec
          .at("metrics[0].resource.target.averageUtilization")
          .with(percentage.value)
          .invalid("must be greater than 0");
      }
    }
    for (const metric of spec.at("metrics").items) metricSource(metric);
    if (least.present && least.number === 0) {
      spec
        .at("metrics")
        .forbidden("must specify at least one Object or External metric to support scaling to zero replicas");
    }
    for (const direction of ["scaleUp", "scaleDown"]) scalingRules(spec.at("behavior").at(direction));
  },
  status: (object) => {
    for (const name of ["currentReplicas", "desiredReplicas"]) object.at("status").at(name).nonNegative();
  },
};

function scalingRules(rules: Field): void {
  if (!rules.present) return;
  const window = rules.at("stabilizationWindowSeconds");
  if (window.present && window.number < 0) window.invalid("must be greater than or equal to zero");
  if (window.number > 3600) window.invalid("must be less than or equal to 3600");
  if (rules.at("selectPolicy").present) rules.at("selectPolicy").oneOf(["Disabled", "Max", "Min"]);
  const policies = rules.at("policies");
  if (policies.empty) policies.required("must specify at least one Policy");
  for (const policy of policies.items) {
    policy.at("type").oneOf(["Percent", "Pods"]);
    if (policy.at("value").number <= 0)
      policy.at("value").invalid("must be greater than zero", policy.at("value").number);
    const period = policy.at("periodSeconds");
    if (period.number <= 0) period.invalid("must be greater than zero", period.number);
    if (period.number > 1800) period.invalid("must be less than or equal to 1800");
  }
  const tolerance = rules.at("tolerance");
  if (tolerance.present && isNegative(tolerance.value))
    tolerance.invalid("must be greater than or equal to 0", String(tolerance.value));
}

const budget: Rules = {
  check: (object) => {
    const spec = object.at("spec");
    const [least, most] = [spec.at("minAvailable"), spec.at("maxUnavailable")];
    if (least.present && most.present) {
      spec.invalid("minAvailable and maxUnavailable cannot be both set");
    }
    for (const bound of [least, most]) {
      if (!bound.present) continue;
      intOrPercent(bound);
      notMoreThanAll(bound);
    }
    labelSelector(spec.at("selector"));
    const policy = spec.at("unhealthyPodEvictionPolicy");
    if (policy.present) policy.oneOf(["AlwaysAllow", "IfHealthyBudget"]);
  },
};

const systemClasses: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};

/** Returns why a name with the system's prefix is not that of a class of the system. */
function systemClassProblem(name: string, value: number, globalDefault: boolean): string | undefined {
  if (!name.startsWith("system-")) return undefined;
  const known = Object.hasOwn(systemClasses, name) ? systemClasses[name] : undefined;
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export const batchKinds: RuleTable = {
  "batch/Job": job,
  "batch/CronJob": cronJob,
  "autoscaling/HorizontalPodAutoscaler": scaler,
  "policy/PodDisruptionBudget": {
    ...budget,
    status: (object) => {
      const status = object.at("status");
      conditionList(status.at("conditions"));
      for (const name of ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"])
        status.at(name).nonNegative();
    },
  },
  "scheduling.k8s.io/PriorityClass": {
    check: (object) => {
      const value = object.at("value");
      const name = object.at("metadata").at("name").text;
      const problem = systemClassProblem(name, value.number, object.fields["globalDefault"] === true);
      if (problem !== undefined) {
        const what = "priority class names with 'system-' prefix are reserved for system use only";
        object.at("metadata").at("name").forbidden(`${what}. error: ${problem}`);
      } else if (value.number > 1_000_000_000 && !name.startsWith("system-")) {
        value.forbidden("maximum allowed value of a user defined priority is 1000000000");
      }
      const policy = object.at("preemptionPolicy");
      if (policy.require()) policy.oneOf(["PreemptLowerPriority", "Never"], { sorted: false });
    },
    checkNewOnly: true,
    update: (object, old) => {
      if (object.at("value").number !== Number(old["value"] ?? 0))
        object.at("value").forbidden("may not be changed in an update.");
      object.at("preemptionPolicy").immutable(old["preemptionPolicy"]);
    },
  },
  "coordination.k8s.io/Lease": {
    // The feature is disabled.
    prepare: (object) => dropCoordination(inner(object, "spec")),
    prepareUpdate: (next) => dropCoordination(inner(next, "spec")),
    check: (object) => {
      const spec = object.at("spec");
      const duration = spec.at("leaseDurationSeconds");
      if (duration.present) duration.positive();
      spec.at("leaseTransitions").nonNegative();
      const strategy = spec.at("strategy");
      if (strategy.present && strategy.text === "") strategy.required();
    },
  },
  "node.k8s.io/RuntimeClass": {
    check: (object) => {
      const handler = object.at("handler");
      if (handler.require()) handler.matches(dnsLabel);
      const overhead = object.at("overhead");
      if (overhead.present) requirements(overhead.with({ limits: overhead.fields["podFixed"] }), containerResourceName);
      const selector = object.at("scheduling").at("nodeSelector");
      validateLabels(selector);
      runtimeTolerations(object.at("scheduling").at("tolerations"));
    },
    update: (object, old) => object.at("handler").immutable(old["handler"]),
  },
};

function dropCoordination(spec: Fields): void {
  delete spec["strategy"];
  delete spec["preferredHolder"];
}

function runtimeTolerations(list: Field): void {
  tolerations(list);
  const seen: Fields[] = [];
  for (const item of list.items) {
    if (seen.some((one) => deepEquals(one, item.fields))) {
      item.duplicate();
    }
    seen.push(item.fields);
  }
}
