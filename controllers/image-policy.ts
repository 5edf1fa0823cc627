/**
 * Rejects images whose tag may mean something else tomorrow, and gives pods a seccomp profile.
 *
 * `default` completes the object before it is stored, `validate` rejects it. Both are called for every pod, whoever
 * creates it: those of a Deployment are rejected too, and its ReplicaSet reports the reason in its status.
 */
import { defineWebhook, Denied } from "binnacle";
import { Pod } from "binnacle/resources";

/** The tag of an image; `undefined` when it has none, or names its content by a digest. */
function tagOf(image: string): string | undefined {
  if (image.includes("@")) return undefined;
  const name = image.slice(image.lastIndexOf("/") + 1); // a port of the registry has a colon too
  const colon = name.indexOf(":");
  return colon < 0 ? "latest" : name.slice(colon + 1);
}

export const imagePolicy = defineWebhook({
  for: Pod,
  // An image cannot change without an update, and other updates do not matter here.
  operations: ["CREATE", "UPDATE"],
  // Namespaces with this mark are left alone.
  namespaceSelector: { matchExpressions: [{ key: "image-policy", operator: "NotIn", values: ["off"] }] },

  default(pod) {
    pod.spec.securityContext ??= {};
    pod.spec.securityContext.seccompProfile ??= { type: "RuntimeDefault" };
  },

  validate(pod, { warn }) {
    const fields: Record<string, string> = {};
    const { containers, initContainers = [] } = pod.spec;
    for (const [list, some] of Object.entries({ containers, initContainers })) {
      for (const [index, { image = "" }] of some.entries()) {
        if (tagOf(image) === "latest") fields[`spec.${list}[${index}].image`] = `must name a version: ${image}`;
        else if (!image.includes("/")) warn(`spec.${list}[${index}].image: ${image} comes from the default registry`);
      }
    }
    if (Object.keys(fields).length > 0) throw new Denied("images must name a version", { code: 422, fields });
  },
});
