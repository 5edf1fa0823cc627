/** Validates the specs of jobs, also those in cron jobs. */
import type { Field } from "../field.ts";
import { dnsSubdomain, patternError, qualifiedName } from "../formats.ts";
import { countIndexes } from "./job-indexes.ts";
import { podTemplate } from "../core/pod-rules.ts";

export function jobSpec(spec: Field): void {
  for (const name of [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ])
    spec.at(name).nonNegative();
  const [perIndex, failed] = [spec.at("backoffLimitPerIndex"), spec.at("maxFailedIndexes")];
  if (failed.present && !perIndex.present) perIndex.required("when maxFailedIndexes is specified");
  const manager = spec.at("managedBy");
  if (manager.present) {
    domainPath(manager);
    if (manager.text.length > 63) manager.tooLong(63);
  }
  completionMode(spec);
  if (spec.at("podFailurePolicy").present) failurePolicy(spec);
  const success = spec.at("successPolicy");
  if (success.present) {
    if (spec.at("completionMode").text === "Indexed") successPolicy(success, spec.at("completions").number);
    else success.invalid("requires indexed completion mode", success.value);
  }
  const replacement = spec.at("podReplacementPolicy");
  if (replacement.present)
    replacement.oneOf(spec.at("podFailurePolicy").present ? ["Failed"] : ["Failed", "TerminatingOrFailed"]);
  podTemplate(spec.at("template"));
  const restart = spec.at("template").at("spec").at("restartPolicy");
  if (restart.text === "" || restart.text === "Always") restart.required('valid values: "OnFailure", "Never"');
  else if (restart.text !== "OnFailure" && restart.text !== "Never")
    restart.oneOf(["OnFailure", "Never"], { sorted: false });
  else if (spec.at("podFailurePolicy").present && restart.text !== "Never")
    restart.invalid('only "Never" is supported when podFailurePolicy is specified', restart.text);
}

function completionMode(spec: Field): void {
  const [mode, completions, parallelism] = [spec.at("completionMode"), spec.at("completions"), spec.at("parallelism")];
  const [perIndex, failed] = [spec.at("backoffLimitPerIndex"), spec.at("maxFailedIndexes")];
  if (mode.present && !["NonIndexed", "Indexed"].includes(mode.text))
    mode.oneOf(["NonIndexed", "Indexed"], { sorted: false });
  if (!mode.present || mode.text === "NonIndexed") {
    for (const field of [perIndex, failed])
      if (field.present) field.invalid("requires indexed completion mode", field.value);
  }
  if (mode.text !== "Indexed") return;
  if (!completions.present) completions.required("when completion mode is Indexed");
  if (parallelism.number > 100_000)
    parallelism.invalid("must be less than or equal to 100000 when completion mode is Indexed");
  if (failed.present && completions.present && failed.number > completions.number)
    failed.invalid("must be less than or equal to completions");
  if (failed.number > 100_000) failed.invalid("must be less than or equal to 100000");
  if (completions.number <= 100_000 || !perIndex.present) return;
  if (!failed.present) failed.required("must be specified when completions is above 100000");
  const many = "when completions are above 100000 and used with backoff limit per index";
  if (parallelism.number > 10_000) parallelism.invalid(`must be less than or equal to 10000 ${many}`);
  if (failed.number > 10_000) failed.invalid(`must be less than or equal to 10000 ${many}`);
}

const path = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/** Requires the form `domain/path`. */
function domainPath(field: Field): void {
  const { text } = field;
  if (text === "") return field.required();
  const slash = text.indexOf("/");
  if (slash <= 0 || slash === text.length - 1)
    return field.invalid('must be a domain-prefixed path (such as "acme.io/foo")');
  field.with(text.slice(0, slash)).matches(dnsSubdomain);
  const rest = text.slice(slash + 1);
  if (!new RegExp(`^${path}$`).test(rest)) field.invalid(patternError("Invalid path", path, { examples: [] }), rest);
}

const actions = ["Count", "FailIndex", "FailJob", "Ignore"];
const statuses = ["False", "True", "Unknown"];

function listed(values: readonly string[]): string {
  return `valid values: [${values.map((one) => `"${one}"`).join(" ")}]`;
}

function failurePolicy(spec: Field): void {
  const rules = spec.at("podFailurePolicy").at("rules");
  if (rules.items.length > 20) rules.tooMany(20);
  const pod = spec.at("template").at("spec");
  const names = ["containers", "initContainers"].flatMap((list) =>
    pod.at(list).items.map((one) => one.at("name").text),
  );
  for (const rule of rules.items) {
    const action = rule.at("action");
    if (action.text === "") action.required(listed(actions));
    else if (action.text === "FailIndex") {
      if (!spec.at("backoffLimitPerIndex").present)
        action.invalid("requires the backoffLimitPerIndex to be set", action.text);
    } else action.oneOf(actions);
    const [codes, conditions] = [rule.at("onExitCodes"), rule.at("onPodConditions")];
    if (codes.present) exitCodes(codes, names);
    if (conditions.items.length > 20) conditions.tooMany(20);
    for (const condition of conditions.items) {
      condition.at("type").matches(qualifiedName);
      const status = condition.at("status");
      if (status.text === "") status.required(listed(statuses));
      else status.oneOf(statuses);
    }
    if (codes.present && !conditions.empty)
      rule.add("Invalid", "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!codes.present && conditions.empty)
      rule.add("Invalid", "specifying one of OnExitCodes and OnPodConditions is required");
  }
}

function exitCodes(codes: Field, names: readonly string[]): void {
  const [operator, container, values] = [codes.at("operator"), codes.at("containerName"), codes.at("values")];
  if (operator.text === "") operator.required(listed(["In", "NotIn"]));
  else operator.oneOf(["In", "NotIn"]);
  if (container.present && !names.includes(container.text))
    container.invalid("must be one of the container or initContainer names in the pod template", container.text);
  if (values.empty) values.invalid("at least one value is required", values.value ?? null);
  else if (values.items.length > 255) values.tooMany(255);
  const seen = new Set<number>();
  let [isOrdered, last] = [true, Number.NEGATIVE_INFINITY];
  for (const value of values.items) {
    if (operator.text === "In" && value.number === 0) value.invalid("must not be 0 for the In operator", 0);
    if (seen.has(value.number)) value.duplicate();
    seen.add(value.number);
    if (value.number < last) isOrdered = false;
    last = value.number;
  }
  if (!isOrdered) values.invalid("must be ordered");
}

function successPolicy(policy: Field, completions: number): void {
  const rules = policy.at("rules");
  if (rules.empty) rules.required("at least one rules must be specified when the successPolicy is specified");
  if (rules.items.length > 20) rules.tooMany(20);
  for (const rule of rules.items) {
    const [count, indexes] = [rule.at("succeededCount"), rule.at("succeededIndexes")];
    if (!count.present && !indexes.present)
      rule.required("at least one of succeededCount or succeededIndexes must be specified");
    let total = 0;
    if (indexes.present) {
      if (indexes.text.length > 65_536) indexes.tooLong(65_536);
      const counted = countIndexes(indexes.text, completions);
      if (typeof counted === "string") indexes.invalid(`error parsing succeededIndexes: ${counted}`, indexes.text);
      else total = counted;
    }
    if (!count.present) continue;
    count.nonNegative();
    if (count.number > completions)
      count.invalid(`must be less than or equal to ${completions} (the number of specified completions)`);
    if (indexes.present && count.number > total)
      count.invalid(
        `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
      );
  }
}
