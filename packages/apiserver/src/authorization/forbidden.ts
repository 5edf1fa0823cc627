/** Makes the 403s of authorization in kube-apiserver's words. */
import { goQuoted } from "../field-error.ts";
import type { Attributes } from "../hooks.ts";
import { forbidden, StatusError } from "../status.ts";

/** Makes the error. @param reason the authorizer's reason; `""` for none */
export function accessForbidden(attributes: Attributes, reason: string): StatusError {
  const message = sentence(attributes).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const why = reason === "" ? message : `${message}: ${reason}`;
  if (!attributes.isResource) return new StatusError(403, "Forbidden", { message: `forbidden: ${why}`, details: {} });
  return forbidden({ group: attributes.group, plural: attributes.resource }, attributes.name, { why });
}

function sentence({ user, verb, isResource, path, group, resource, subresource, namespace }: Attributes): string {
  const who = `User ${goQuoted(user.username)} cannot ${verb}`;
  if (!isResource) return `${who} path ${goQuoted(path)}`;
  const what = goQuoted(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${goQuoted(namespace)}`;
  return `${who} resource ${what} in API group ${goQuoted(group)} ${where}`;
}
