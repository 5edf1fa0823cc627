/** Refuses privileged containers, as kube-apiserver does without `--allow-privileged`. */
import type { FieldError } from "../field-error.ts";
import type { AdmissionAttributes, Fields } from "../hooks.ts";
import { invalid } from "../status.ts";
import { each, inner } from "../validation/fill.ts";

/** The path of the pod spec, by the resource that has one. */
const places: ReadonlyMap<string, string> = new Map([
  ["/pods", "spec"],
  ["/podtemplates", "template.spec"],
  ["batch/cronjobs", "spec.jobTemplate.spec.template.spec"],
  ...["/replicationcontrollers", "apps/daemonsets", "apps/deployments", "apps/replicasets", "apps/statefulsets"].map(
    (resource) => [resource, "spec.template.spec"] as const,
  ),
  ["batch/jobs", "spec.template.spec"],
]);

/** @throws StatusError 422 when a container of the object is privileged. */
export function refusePrivileged({ context, object }: AdmissionAttributes): void {
  const { row, name } = context;
  const place = row.custom ? undefined : places.get(`${row.group}/${row.plural}`);
  if (place === undefined || object === undefined) return;
  const spec = place.split(".").reduce<Fields>((fields, part) => inner(fields, part), object);
  const errors = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    each(spec, list).flatMap((container, index): FieldError[] => {
      const { privileged } = inner(container, "securityContext");
      const field = `${place}.${list}[${index}].securityContext.privileged`;
      return privileged === true ? [{ type: "Forbidden", field, detail: "disallowed by cluster policy" }] : [];
    }),
  );
  if (errors.length > 0) throw invalid(row, name, { errors });
}
