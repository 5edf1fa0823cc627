/**
 * The rights of an account. Its bindings prove which roles are its own. They lose their subject first and are deleted
 * after the roles, so that a repeated attempt still finds the proof.
 */
import type { Transport } from "../../kube/transport/transport.ts";
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import {
  change,
  deletionTarget,
  type DeletionTarget,
  find,
  type ClusterObject,
  list,
  MANAGED_BY,
  OURS,
} from "./cluster-objects.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** The annotation of a binding without subjects that names its former account. */
const MARK = "binnacle.dev/was-bound-to";

interface Binding extends ClusterObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[] | null;
}

/** A binding of the account alone. */
export interface AccountBinding extends DeletionTarget {
  /** Whether the binding still gives the account its permissions. */
  readonly isInForce: boolean;
}

export interface AccountRights {
  readonly bindings: readonly AccountBinding[];
  /** The roles that only these bindings refer to. */
  readonly roles: readonly DeletionTarget[];
  /** Roles with the name that are bound to other subjects as well. */
  readonly foreign: readonly string[];
}

export async function accountRights(transport: Transport, account: ServiceAccount): Promise<AccountRights> {
  const { name } = account;
  const bindings: AccountBinding[] = [];
  const roles: DeletionTarget[] = [];
  const foreign: string[] = [];
  const all = {
    Cluster: await list<Binding>(transport, `${RBAC}/clusterrolebindings`),
    "": await list<Binding>(transport, `${RBAC}/rolebindings`),
  };
  for (const prefix of ["Cluster", ""] as const) {
    for (const binding of all[prefix]) {
      if (!isOf(account, binding) || binding.roleRef.kind !== `${prefix}Role`) continue;
      const { namespace } = binding.metadata;
      const folder = namespace === undefined ? RBAC : `${RBAC}/namespaces/${namespace}`;
      const what = deletionTarget(
        `${folder}/${prefix.toLowerCase()}rolebindings/${name}`,
        `${prefix}RoleBinding`,
        binding,
      );
      bindings.push({ ...what, isInForce: (binding.subjects ?? []).length > 0 });
      const path = `${folder}/${prefix.toLowerCase()}roles/${name}`;
      const role = await find<ClusterObject>(transport, path);
      if (role === undefined) continue;
      const one = deletionTarget(path, `${prefix}Role`, role);
      const refers = ({ metadata, roleRef }: Binding): boolean =>
        roleRef.kind === `${prefix}Role` &&
        roleRef.name === name &&
        metadata.uid !== binding.metadata.uid &&
        (namespace === undefined || metadata.namespace === namespace);
      if ([...all.Cluster, ...all[""]].some(refers)) foreign.push(one.what);
      else roles.push(one);
    }
  }
  if (bindings.length > 0) roles.push(...(await metricsReader(transport, name)));
  return { bindings, roles, foreign };
}

/** Whether the account alone is bound, or was until an earlier attempt. */
function isOf({ namespace, name }: ServiceAccount, { metadata, subjects, roleRef }: Binding): boolean {
  if (metadata.name !== name || roleRef.name !== name || (metadata.labels?.[MANAGED_BY] ?? OURS) !== OURS) return false;
  const [subject, ...others] = subjects ?? [];
  if (subject === undefined) return metadata.annotations?.[MARK] === `${namespace}/${name}`;
  const isAccount = subject.kind === "ServiceAccount" && subject.name === name && subject.namespace === namespace;
  return isAccount && others.length === 0;
}

async function metricsReader(transport: Transport, name: string): Promise<readonly DeletionTarget[]> {
  const path = `${RBAC}/clusterroles/${name}-metrics-reader`;
  const reader = await find<ClusterObject & { rules?: readonly { nonResourceURLs?: readonly string[] }[] }>(
    transport,
    path,
  );
  const isOurs = reader?.rules?.every(({ nonResourceURLs }) => nonResourceURLs?.join() === "/metrics") === true;
  return isOurs ? [deletionTarget(path, "ClusterRole", reader)] : [];
}

/** Takes the rights from the account. */
export async function disempower(
  transport: Transport,
  { namespace, name }: ServiceAccount,
  binding: AccountBinding,
): Promise<void> {
  const annotations = { [MARK]: `${namespace}/${name}` };
  await change(transport, binding, { metadata: { annotations }, subjects: null });
}
