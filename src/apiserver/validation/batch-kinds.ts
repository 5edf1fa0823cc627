/** Jobs, cron jobs, scalers and budgets. */
import { sameJson } from "../../resource/json.ts";
import type { Fields } from "../hooks.ts";
import { cronProblem } from "./cron-format.ts";
import type { Field } from "./field.ts";
import { inner } from "./fill.ts";
import { dnsLabel, labelValue, tooLong } from "./formats.ts";
import { intOrPercent, notMoreThanAll } from "./numbers.ts";
import { podTemplate } from "./pod-rules.ts";
import { tolerations } from "./scheduling-rules.ts";
import { quantityOrder } from "./quantities.ts";
import type { Rules, RuleTable } from "./rules.ts";
import { labelSelector } from "./selector-rules.ts";

const immutableFields = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];

const job: Rules = {
  checksTwice: true,
  prepare: (object) => {
    object["status"] = {};
    const spec = inner(object, "spec");
    if (spec["manualSelector"] === true) return;
    const uid = object.metadata.uid ?? "";
    const template = inner(spec, "template");
    template["metadata"] ??= {};
    const metadata = inner(template, "metadata");
    const own = {
      "batch.kubernetes.io/controller-uid": uid,
      "batch.kubernetes.io/job-name": object.metadata.name ?? "",
      "controller-uid": uid,
      "job-name": object.metadata.name ?? "",
    };
    const before = inner(metadata, "labels");
    metadata["labels"] = { ...before, ...own };
    // The labels of a Job that has none of its own are those of its template, and stay the same ones.
    const { labels = {} } = object.metadata;
    if (Object.keys(before).length > 0 && sameJson(labels, before)) object.metadata.labels = { ...labels, ...own };
    spec["selector"] ??= {};
    const selector = inner(spec, "selector");
    selector["matchLabels"] = { ...inner(selector, "matchLabels"), "batch.kubernetes.io/controller-uid": uid };
  },
  check: (object, { old }) => {
    const spec = object.at("spec");
    jobSpec(spec);
    const name = object.at("metadata").at("name");
    if (old === undefined && spec.at("completionMode").text === "Indexed") return;
    if (old === undefined && name.text.length > 63) name.invalid(tooLong(63));
  },
  update: (object, old) => {
    const [spec, before] = [object.at("spec"), inner(old, "spec")];
    const completions = spec.at("completions");
    if (spec.at("completionMode").text !== "Indexed") completions.immutable(before["completions"]);
    else if (completions.present && !sameJson(completions.value, before["completions"])) {
      const isInTandem = sameJson(completions.value, spec.at("parallelism").value);
      if (!isInTandem) completions.invalid("can only be modified in tandem with spec.parallelism");
    }
    spec.at("selector").immutable(before["selector"]);
    for (const name of immutableFields) spec.at(name).immutable(before[name]);
    const template = spec.at("template").at("spec");
    template.immutable(inner(before, "template")["spec"]);
  },
  selectable: { "status.successful": (object) => String(inner(object, "status")["succeeded"] ?? 0) },
};

function jobSpec(spec: Field): void {
  const mode = spec.at("completionMode");
  const isIndexed = mode.text === "Indexed";
  for (const name of [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
  ]) {
    spec.at(name).nonNegative();
  }
  const [completions, perIndex, failed] = [
    spec.at("completions"),
    spec.at("backoffLimitPerIndex"),
    spec.at("maxFailedIndexes"),
  ];
  if (failed.present) {
    failed.nonNegative();
    if (!perIndex.present) perIndex.required("when maxFailedIndexes is specified");
  }
  if (mode.present) {
    if (!["NonIndexed", "Indexed"].includes(mode.text)) mode.oneOf(["NonIndexed", "Indexed"], { sorted: false });
    if (isIndexed) {
      if (!completions.present) completions.required("when completion mode is Indexed");
      const parallelism = spec.at("parallelism");
      if (parallelism.number > 100_000)
        parallelism.invalid("must be less than or equal to 100000 when completion mode is Indexed");
      if (failed.present && completions.present && failed.number > completions.number)
        failed.invalid("must be less than or equal to completions");
      if (failed.number > 100_000) failed.invalid("must be less than or equal to 100000");
    }
  }
  if (!isIndexed && ["NonIndexed"].includes(mode.text)) {
    for (const field of [perIndex, failed])
      if (field.present) field.invalid("requires indexed completion mode", field.value);
  }
  failurePolicy(spec);
  const replacement = spec.at("podReplacementPolicy");
  if (replacement.present) {
    replacement.oneOf(spec.at("podFailurePolicy").present ? ["Failed"] : ["Failed", "TerminatingOrFailed"]);
  }
  podTemplate(spec.at("template"));
  const restart = spec.at("template").at("spec").at("restartPolicy");
  if (restart.text === "" || restart.text === "Always") restart.required('valid values: "OnFailure", "Never"');
  else if (restart.text !== "OnFailure" && restart.text !== "Never")
    restart.oneOf(["OnFailure", "Never"], { sorted: false });
  else if (spec.at("podFailurePolicy").present && restart.text !== "Never") {
    restart.invalid('only "Never" is supported when podFailurePolicy is specified', restart.text);
  }
}

const actions = ["Count", "FailIndex", "FailJob", "Ignore"];

function failurePolicy(spec: Field): void {
  for (const rule of spec.at("podFailurePolicy").at("rules").items) {
    const action = rule.at("action");
    if (action.text === "") action.required(`valid values: [${actions.map((one) => `"${one}"`).join(" ")}]`);
    else action.oneOf(actions);
    const [codes, conditions] = [rule.at("onExitCodes"), rule.at("onPodConditions")];
    if (codes.present) {
      const [operator, values] = [codes.at("operator"), codes.at("values")];
      if (operator.text === "") operator.required('valid values: ["In" "NotIn"]');
      else operator.oneOf(["In", "NotIn"]);
      if (values.empty) values.invalid("at least one value is required", values.value ?? null);
      const seen = new Set<number>();
      for (const value of values.items) {
        if (seen.has(value.number)) value.duplicate();
        seen.add(value.number);
      }
      if (!conditions.empty) rule.add("Invalid", "specifying both OnExitCodes and OnPodConditions is not supported");
    } else if (conditions.empty) rule.add("Invalid", "specifying one of OnExitCodes and OnPodConditions is required");
  }
}

const cronJob: Rules = {
  check: (object, { old }) => {
    const spec = object.at("spec");
    const schedule = spec.at("schedule");
    if (schedule.text === "") schedule.required();
    else {
      const wrong = cronProblem(schedule.text);
      if (wrong !== undefined) schedule.invalid(wrong);
      if (/^(CRON_)?TZ=/.test(schedule.text))
        schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    }
    for (const name of ["startingDeadlineSeconds"]) spec.at(name).nonNegative();
    const policy = spec.at("concurrencyPolicy");
    if (policy.require()) policy.oneOf(["Allow", "Forbid", "Replace"]);
    for (const name of ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]) spec.at(name).nonNegative();
    const zone = spec.at("timeZone");
    if (zone.present) timeZone(zone);
    jobSpec(spec.at("jobTemplate").at("spec"));
    const name = object.at("metadata").at("name");
    if (old === undefined && name.text.length > 52) name.invalid(tooLong(52));
  },
};

function timeZone(zone: Field): void {
  if (zone.text === "") return zone.invalid("timeZone must be nil or non-empty string");
  if (zone.text.toLowerCase() === "local")
    return zone.invalid("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone.text }).format();
  } catch {
    zone.invalid(`unknown time zone ${zone.text}`);
  }
}

const sources: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

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
    reference.at("kind").require();
    reference.at("name").require();
    const version = reference.at("apiVersion");
    if (!version.text.includes("/") && version.text !== "v1")
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
};

function metricSource(metric: Field): void {
  const type = metric.at("type");
  if (type.text === "") type.required("must specify a metric source type");
  if (!Object.hasOwn(sources, type.text)) {
    // Two rules of the registry say the same.
    for (let times = 0; times < 2; times++) type.oneOf(Object.keys(sources));
    return;
  }
  const source = metric.at(sources[type.text] ?? "");
  if (!source.present) return source.required("must populate information for the given metric source");
  const target = source.at("target");
  if (type.text === "Resource" || type.text === "ContainerResource") {
    if (type.text === "ContainerResource" && source.at("container").text === "")
      source.at("container").required("must specify a container name");
    if (source.at("name").text === "") source.at("name").required("must specify a resource name");
    metricTarget(target);
    const [utilization, value] = [target.at("averageUtilization"), target.at("averageValue")];
    if (!utilization.present && !value.present)
      utilization.required("must set either a target raw value or a target utilization");
    if (utilization.present && value.present)
      value.forbidden("may not set both a target raw value and a target utilization");
    return;
  }
  if (source.at("metric").at("name").text === "") source.at("metric").at("name").required("must specify a metric name");
  metricTarget(target);
  if (type.text === "Pods") {
    const value = target.at("averageValue");
    if (!value.present || quantityOrder(value.value, "0") <= 0)
      value.required("must specify a positive target averageValue");
  } else if (!target.at("value").present && !target.at("averageValue").present) {
    target.at("averageValue").required("must set either a target value for metric or a per-pod target");
  }
}

function metricTarget(target: Field): void {
  const type = target.at("type");
  if (type.text === "") type.required("must specify a metric target type");
  if (!["Utilization", "Value", "AverageValue"].includes(type.text))
    type.invalid("must be either Utilization, Value, or AverageValue", type.text);
  const utilization = target.at("averageUtilization");
  if (utilization.present && utilization.number < 1) utilization.invalid("must be greater than 0");
}

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
}

const budget: Rules = {
  check: (object) => {
    const spec = object.at("spec");
    const [least, most] = [spec.at("minAvailable"), spec.at("maxUnavailable")];
    if (least.present && most.present) {
      spec.addStruct("Invalid", "minAvailable and maxUnavailable cannot be both set", {
        MinAvailable: least.value,
        Selector: spec.fields["selector"] ?? null,
        MaxUnavailable: most.value,
        UnhealthyPodEvictionPolicy: spec.fields["unhealthyPodEvictionPolicy"] ?? null,
      });
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

export const batchKinds: RuleTable = {
  "batch/Job": job,
  "batch/CronJob": cronJob,
  "autoscaling/HorizontalPodAutoscaler": scaler,
  "policy/PodDisruptionBudget": budget,
  "scheduling.k8s.io/PriorityClass": {
    check: (object) => {
      const value = object.at("value");
      const name = object.at("metadata").at("name").text;
      if (name.startsWith("system-") && !/^system-(node|cluster)-critical$/.test(name)) {
        object
          .at("metadata")
          .at("name")
          .forbidden("priority class names with 'system-' prefix are reserved for system use only");
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
      const selector = object.at("scheduling").at("nodeSelector");
      for (const value of Object.values(selector.fields)) selector.with(value).matches(labelValue);
      runtimeTolerations(object.at("scheduling").at("tolerations"));
    },
    update: (object, old) => object.at("handler").immutable(old["handler"]),
  },
};

function runtimeTolerations(list: Field): void {
  tolerations(list);
  const seen: Fields[] = [];
  for (const item of list.items) {
    if (seen.some((one) => Bun.deepEquals(one, item.fields))) {
      const { key = "", operator = "", value = "", effect = "", tolerationSeconds = null } = item.fields;
      item.addStruct("Duplicate", "", {
        Key: key,
        Operator: operator,
        Value: value,
        Effect: effect,
        TolerationSeconds: tolerationSeconds,
      });
    }
    seen.push(item.fields);
  }
}
