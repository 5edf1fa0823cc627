/**
 * OwnerReferencesPermissionEnforcement: whoever makes an object the owner of another one must be allowed to delete the
 * latter, and to change the finalizers of an owner whose deletion it blocks.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#ownerreferencespermissionenforcement
 */
import { deepEquals } from "#platform/equality";
import type { AdmissionAttributes, AdmissionOptions, KubeObject, OwnerReferenceFields } from "../hooks.ts";
import { type Plugin, refusal } from "./plugin.ts";

type KindOf = AdmissionOptions["kindOf"];

/** @param kindOf returns a served kind */
export const ownerPermissions = (kindOf: KindOf): Plugin => ({
  name: "OwnerReferencesPermissionEnforcement",
  resources: "all",
  validate(attributes) {
    const { context, object, oldObject } = attributes;
    if (object === undefined || context.operation === "DELETE" || context.subresource === "status") return;
    const [owners, before] = [ownersOf(object), ownersOf(oldObject)];
    if (deepEquals(owners, before)) return;
    if (context.operation !== "CREATE") {
      const { group, plural: resource } = context.row;
      const { name, subresource } = context;
      const about = { user: context.user, isResource: true, path: "", namespace: context.namespace };
      const question = { ...about, verb: "delete", group, resource, subresource, name };
      const { allowed, reason } = context.authorizer.authorize(question);
      if (!allowed)
        throw refusal(attributes, `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`);
    }
    const blocked = new Set(before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid));
    for (const owner of owners) {
      if (owner.blockOwnerDeletion && !blocked.has(owner.uid)) checkFinalizers(attributes, owner, kindOf);
    }
  },
});

function checkFinalizers(attributes: AdmissionAttributes, owner: OwnerReferenceFields, kindOf: KindOf): void {
  const { context } = attributes;
  const { apiVersion, kind, name } = owner;
  const row = kindOf({ apiVersion, kind });
  if (row === undefined) {
    const why = `cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`;
    const none = `no matches for kind "${kind}" in version "${apiVersion}"`;
    throw refusal(attributes, `cannot set blockOwnerDeletion in this case because ${why}: ${none}`);
  }
  const namespace = row.namespaced ? context.namespace : "";
  const about = { user: context.user, isResource: true, path: "", group: row.group, resource: row.plural };
  const question = { ...about, verb: "update", subresource: "finalizers", namespace, name };
  const { allowed, reason } = context.authorizer.authorize(question);
  if (allowed) return;
  const why = "an ownerReference refers to a resource you can't set finalizers on";
  throw refusal(attributes, `cannot set blockOwnerDeletion if ${why}: ${reason}, <nil>`);
}

function ownersOf(object: KubeObject | undefined): readonly OwnerReferenceFields[] {
  return object?.metadata.ownerReferences ?? [];
}
