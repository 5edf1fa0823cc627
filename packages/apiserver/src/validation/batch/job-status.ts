/** Validates a Job's status, which its controller writes. */
import { deepEquals } from "#platform/equality";
import type { Fields } from "../../hooks.ts";
import type { Field } from "../field.ts";
import { each, inner } from "../fill.ts";
import { countIndexes } from "./job-indexes.ts";

function isTrue(status: Fields, type: string): boolean {
  return each(status, "conditions").some((one) => one["type"] === type && one["status"] === "True");
}

function isFinished(status: Fields): boolean {
  return isTrue(status, "Complete") || isTrue(status, "Failed");
}

export function jobStatus(object: Field, old: Fields): void {
  const [status, before] = [object.at("status"), inner(old, "status")];
  for (const name of ["active", "succeeded", "failed", "ready", "terminating"]) status.at(name).nonNegative();
  uncounted(status.at("uncountedTerminatedPods"));
  times(status, before);
  conditions(status);
  const changed = (name: string): boolean => !deepEquals(status.fields[name], before[name]);
  const finished = isFinished(status.fields);
  const finishes = finished !== isFinished(before);
  const spec = object.at("spec");
  if ((finishes || changed("active")) && finished && status.at("active").number > 0)
    status.at("active").invalid("active>0 is invalid for finished job");
  if ((finishes || changed("startTime")) && finished && !status.at("startTime").present)
    status.at("startTime").required("startTime is required for finished job");
  indexes(status, { spec, changed });
  if ((finishes || changed("terminating")) && finished && status.at("terminating").number > 0)
    status.at("terminating").invalid("terminating>0 is invalid for finished job");
  const ready = status.at("ready");
  if ((changed("ready") || changed("active")) && ready.present && ready.number > status.at("active").number)
    ready.invalid("cannot set more ready pods than active");
  const met = isTrue(status.fields, "SuccessCriteriaMet");
  for (const type of ["Failed", "FailureTarget"]) {
    if (met && isTrue(status.fields, type))
      status.at("conditions").add("Invalid", `cannot set SuccessCriteriaMet=True and ${type}=true conditions`);
  }
  later(status, { before, isSuspended: spec.at("suspend").value === true });
}

function uncounted(pods: Field): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"]) {
    for (const id of pods.at(list).items) {
      if (id.text === "") id.invalid("must not be empty", "");
      else if (seen.has(id.text)) id.duplicate();
      seen.add(id.text);
    }
  }
}

function times(status: Field, before: Fields): void {
  const [start, end] = [status.at("startTime"), status.at("completionTime")];
  const complete = isTrue(status.fields, "Complete");
  const changes = complete !== isTrue(before, "Complete") || end.value !== before["completionTime"];
  if (!changes && start.value === before["startTime"]) return;
  if (changes && end.present && !complete)
    end.invalid("cannot set completionTime when there is no Complete=True condition");
  if (changes && !end.present && complete) end.required("completionTime is required for Complete jobs");
  if (start.present && end.present && end.text < start.text) end.invalid("must be equal to or after `startTime`");
}

function conditions(status: Field): void {
  const list = status.at("conditions");
  const has = (type: string): boolean => isTrue(status.fields, type);
  if (has("Complete") && has("Failed")) list.add("Invalid", "cannot set Complete=True and Failed=true conditions");
  if (has("Complete") && has("FailureTarget"))
    list.add("Invalid", "cannot set Complete=True and FailureTarget=true conditions");
  if (has("Failed") && !has("FailureTarget"))
    list.add("Invalid", "cannot set Failed=True condition without the FailureTarget=true condition");
  if (has("Complete") && !has("SuccessCriteriaMet"))
    list.add("Invalid", "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
}

interface Indexed {
  readonly spec: Field;
  readonly changed: (name: string) => boolean;
}

function indexes(status: Field, { spec, changed }: Indexed): void {
  const [completions, done, failed] = [
    spec.at("completions"),
    status.at("completedIndexes"),
    status.at("failedIndexes"),
  ];
  const perIndex = spec.at("backoffLimitPerIndex").present;
  if (changed("completedIndexes") && completions.present) {
    const wrong = countIndexes(done.text, completions.number);
    if (typeof wrong === "string") done.invalid(`error parsing completedIndexes: ${wrong}`, done.text);
  }
  if (changed("failedIndexes") && completions.present && perIndex && failed.present) {
    const wrong = countIndexes(failed.text, completions.number);
    if (typeof wrong === "string") failed.invalid(`error parsing failedIndexes: ${wrong}`, failed.text);
  }
  if (changed("completedIndexes") && done.text !== "" && spec.at("completionMode").text !== "Indexed")
    done.invalid("cannot set non-empty completedIndexes when non-indexed completion mode");
  if (changed("failedIndexes") && !perIndex && failed.present)
    failed.invalid("cannot set non-null failedIndexes when backoffLimitPerIndex is null");
}

/** Validates that a field only increases. */
function later(
  status: Field,
  { before, isSuspended }: { readonly before: Fields; readonly isSuspended: boolean },
): void {
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (isTrue(before, type) && !isTrue(status.fields, type))
      status.at("conditions").add("Invalid", `cannot disable the terminal ${type}=True condition`);
  }
  for (const name of ["failed", "succeeded"]) {
    if (status.at(name).number < Number(before[name] ?? 0))
      status.at(name).invalid(`cannot decrease the ${name} counter`, status.at(name).number);
  }
  const end = status.at("completionTime");
  if (end.present && before["completionTime"] !== undefined && end.value !== before["completionTime"])
    end.invalid("field is immutable");
  const start = status.at("startTime");
  const isResuming = isTrue(before, "Suspended") && !isTrue(status.fields, "Suspended");
  const mayRestart = isSuspended || isResuming;
  if (before["startTime"] !== undefined && start.value !== before["startTime"] && !mayRestart)
    start.invalid("field is immutable for unsuspended job once set", start.value ?? null);
  if (isTrue(before, "SuccessCriteriaMet") && !isTrue(status.fields, "SuccessCriteriaMet"))
    status.at("conditions").add("Invalid", "cannot disable the SuccessCriteriaMet=True condition");
}
