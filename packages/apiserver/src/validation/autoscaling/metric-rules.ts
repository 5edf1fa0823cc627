/** Validates the metrics by which a HorizontalPodAutoscaler scales. */
import type { Field } from "../field.ts";
import { dnsLabel, pathSegment } from "../formats.ts";
import { quantityOrder } from "../quantities.ts";
import { containerResourceName } from "../core/resource-rules.ts";

/** The fields in the order in which the server checks them. */
const fields = ["object", "external", "pods", "resource", "containerResource"];
const types: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

export function metricSource(metric: Field): void {
  const type = metric.at("type");
  if (type.text === "") type.required("must specify a metric source type");
  const expected = Object.hasOwn(types, type.text) ? types[type.text] : undefined;
  if (expected === undefined) type.oneOf(Object.keys(types));
  const sources = fields.filter((name) => metric.at(name).present);
  if (sources[0] !== undefined) source(sources[0], metric.at(sources[0]));
  if (expected === undefined) type.oneOf(Object.keys(types));
  else if (!metric.at(expected).present)
    metric.at(expected).required("must populate information for the given metric source");
  if (sources.length === 1) return;
  for (const name of sources)
    if (name !== expected) metric.at(name).forbidden("must populate the given metric source only");
}

function source(name: string, field: Field): void {
  const target = field.at("target");
  const [value, average, utilization] = [
    target.at("value"),
    target.at("averageValue"),
    target.at("averageUtilization"),
  ];
  if (name === "resource" || name === "containerResource") {
    const resource = field.at("name");
    if (resource.text === "") resource.required("must specify a resource name");
    else if (name === "containerResource") containerResourceName(resource);
    const container = field.at("container");
    if (name === "containerResource") {
      if (container.text === "") container.required("must specify a container");
      else container.matches(dnsLabel);
    }
    metricTarget(target);
    const both = "a target raw value and a target utilization";
    if (!utilization.present && !average.present)
      utilization.required("must set either a target raw value or a target utilization");
    if (utilization.present && average.present) average.forbidden(`may not set both ${both}`);
    return;
  }
  if (name === "object") objectReference(field.at("describedObject"));
  const identifier = field.at("metric").at("name");
  if (identifier.text === "") identifier.required("must specify a metric name");
  else identifier.matches(pathSegment);
  metricTarget(target);
  if (name === "pods") {
    if (!average.present) average.required("must specify a positive target averageValue");
  } else if (name === "object") {
    if (!value.present && !average.present) average.required("must set either a target value or averageValue");
  } else {
    if (!value.present && !average.present)
      average.required("must set either a target value for metric or a per-pod target");
    if (value.present && average.present)
      value.forbidden("may not set both a target value for metric and a per-pod target");
  }
}

/** Validates a reference to the scaled or measured object, in any version. */
function objectReference(reference: Field): void {
  for (const name of ["kind", "name"]) {
    const field = reference.at(name);
    if (field.require()) field.matches(pathSegment);
  }
  const { text } = reference.at("apiVersion");
  const parts = text.split("/");
  if (parts.length > 2) reference.at("apiVersion").invalid(`unexpected GroupVersion string: ${text}`);
}

function metricTarget(target: Field): void {
  const type = target.at("type");
  if (type.text === "") type.required("must specify a metric target type");
  if (!["Utilization", "Value", "AverageValue"].includes(type.text))
    type.invalid("must be either Utilization, Value, or AverageValue", type.text);
  for (const name of ["value", "averageValue"]) {
    const amount = target.at(name);
    if (amount.present && quantityOrder(amount.value, "0") <= 0)
      amount.invalid("must be positive", String(amount.value));
  }
  const utilization = target.at("averageUtilization");
  if (utilization.present && utilization.number < 1) utilization.invalid("must be greater than 0");
}
