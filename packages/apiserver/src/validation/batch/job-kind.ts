/** Validates jobs, and adds their labels and selectors. */
import type { Fields } from "../../hooks.ts";
import { type Field, withoutEmpty } from "../field.ts";
import { inner } from "../fill.ts";
import { dnsLabel } from "../formats.ts";
import { isSameStored } from "../stored-values.ts";
import { jobSpec } from "./job-spec.ts";
import { jobStatus } from "./job-status.ts";
import type { RuleContext, Rules } from "../rules.ts";
import { labelSelector } from "../selector-rules.ts";
import { selects as labelsMatch } from "../../request/label-selector.ts";

const immutableFields = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];

export const job: Rules = {
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
    metadata["labels"] = { ...own, ...before }; // validation rejects any others
    // A Job without labels gets the map of its template's labels, and shares it from then on.
    const { labels = {} } = object.metadata;
    const isShared = labels === before || (Object.keys(labels).length === 0 && Object.keys(before).length === 0);
    if (isShared) object.metadata.labels = { ...own, ...labels };
    spec["selector"] ??= {};
    const selector = inner(spec, "selector");
    selector["matchLabels"] = { "batch.kubernetes.io/controller-uid": uid, ...inner(selector, "matchLabels") };
  },
  check: (object) => {
    const spec = object.at("spec");
    generatedSelector(object);
    selectedSpec(spec);
    const completions = spec.at("completions");
    if (spec.at("completionMode").text !== "Indexed" || completions.number <= 0) return;
    const name = object.at("metadata").at("name");
    const longest = `${name.text}-${completions.number - 1}`;
    if (dnsLabel(longest).length > 0)
      name.invalid(`will not able to create pod with invalid DNS label: ${longest}`, name.text);
  },
  update: jobUpdate,
  status: jobStatus,
  selectable: { "status.successful": (object) => String(inner(object, "status")["succeeded"] ?? 0) },
};

function selects(selector: unknown, labels: unknown): boolean | undefined {
  try {
    return labelsMatch(selector as Fields)((labels ?? {}) as Record<string, string>);
  } catch {
    return undefined;
  }
}

function selectedSpec(spec: Field): void {
  jobSpec(spec);
  const selector = spec.at("selector");
  if (selector.present) labelSelector(selector);
  else selector.required();
  const labels = spec.at("template").at("metadata").at("labels");
  const isSelected = selector.present ? selects(selector.value, labels.value) : false;
  if (isSelected === false) labels.invalid("`selector` does not match template `labels`", labels.value ?? null);
}

/** Checks that the fields which the server added are unchanged. */
function generatedSelector(object: Field): void {
  const spec = object.at("spec");
  if (spec.at("manualSelector").value === true || !spec.at("selector").present) return;
  const { uid, name } = object.at("metadata").fields;
  const labels = spec.at("template").at("metadata").at("labels");
  const expected = {
    "controller-uid": uid,
    "job-name": name ?? "",
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name ?? "",
  };
  for (const [key, value] of Object.entries(expected)) {
    const entry = labels.key(key);
    if (!entry.present) entry.required(`must be '${String(value)}'`);
    else if (entry.value !== value) entry.add("Invalid", `must be '${String(value)}'`, labels.value);
  }
  if (selects(spec.at("selector").value, expected) === false)
    spec.at("selector").invalid("`selector` not auto-generated", spec.at("selector").value);
}

function jobUpdate(object: Field, old: Fields, context: RuleContext): void {
  const [spec, before] = [object.at("spec"), inner(old, "spec")];
  selectedSpec(spec);
  const completions = spec.at("completions");
  if (spec.at("completionMode").text !== "Indexed") completions.immutable(before["completions"]);
  else if (completions.present && completions.value !== before["completions"]) {
    if (completions.value !== spec.at("parallelism").value)
      completions.invalid("can only be modified in tandem with spec.parallelism");
  }
  spec.at("selector").immutable(before["selector"]);
  templateUpdate(spec.at("template"), { before, old, context });
  for (const name of immutableFields) spec.at(name).immutable(before[name]);
}

interface TemplateUpdate {
  /** The spec of the Job before the update. */
  readonly before: Fields;
  readonly old: Fields;
  readonly context: RuleContext;
}

/** While a Job is suspended, the scheduling of its pods may change. */
function templateUpdate(template: Field, { before, old, context: { write } }: TemplateUpdate): void {
  const { row } = write;
  const earlier = structuredClone(inner(before, "template"));
  const isSuspended = before["suspend"] === true;
  const isIdle = isSuspended && !inner(old, "status")["active"];
  const pod = inner(earlier, "spec");
  const next = template.at("spec");
  if (isIdle) {
    for (const name of ["nodeSelector", "tolerations", "schedulingGates"]) pod[name] = next.fields[name];
    const affinity = { ...inner(pod, "affinity"), nodeAffinity: inner(next.fields, "affinity")["nodeAffinity"] };
    pod["affinity"] = withoutEmpty(affinity) === undefined ? next.fields["affinity"] : affinity;
    const { labels, annotations } = template.at("metadata").fields;
    earlier["metadata"] = { ...inner(earlier, "metadata"), labels, annotations };
    for (const list of ["containers", "initContainers"]) {
      const [now, then] = [next.at(list).items, (pod[list] ?? []) as Fields[]];
      if (now.length !== then.length) continue;
      for (const [index, container] of then.entries()) {
        const same = now[index];
        if (same && same.fields["name"] === container["name"]) container["resources"] = same.fields["resources"];
      }
    }
    if (isSameStored({ row, path: "spec.template.spec" }, next.value ?? {}, pod)) return;
    template.at("spec").invalid("field is immutable", next.value ?? {});
    return;
  }
  if (isSameStored({ row, path: "spec.template" }, template.value ?? {}, earlier)) return;
  template.invalid("field is immutable", template.value ?? {});
}
