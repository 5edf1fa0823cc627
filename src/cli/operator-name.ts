/** The name of an operator and of everything that is deployed of it: two operators must not replace each other. */
import { readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ServiceAccount } from "../module/rbac-manifests.ts";
import type { Operator } from "./command.ts";
import type { Option } from "../settings/option.ts";
import { UsageError } from "./usage-error.ts";

/** Folder names that do not describe the content. */
const GENERIC: ReadonlySet<string> = new Set(["controllers", "src", "modules"]);
/**
 * The longest name: it becomes a part of the names of Leases, namespaces and Services, which have at most 63
 * characters.
 */
const LONGEST = 50;
/** The ClusterRoles for users that every cluster has; a role with such a name would replace one of them. */
const ROLES_OF_EVERY_CLUSTER: ReadonlySet<string> = new Set(["cluster-admin", "admin", "edit", "view"]);

interface TextOption<Name extends string> extends Option {
  readonly name: Name;
  readonly type: "string";
}

export const nameOption: TextOption<"name"> = {
  name: "name",
  type: "string",
  describe:
    "Name of the operator, and of what is deployed of it, in namespace NAME-system; that of the project when left out",
};

export const serviceAccountOption: TextOption<"service-account"> = {
  name: "service-account",
  type: "string",
  describe:
    "Namespace and name of the service account, and of all other deployed objects; NAME-system/NAME when left out",
};

/** The program; `binnacle build` gives it a name of its own. */
interface Named {
  readonly embedded: { readonly operator?: Pick<Operator, "name"> | undefined };
}

export interface NameValues {
  readonly name?: string | undefined;
  readonly "service-account"?: string | undefined;
  readonly controllers: readonly string[];
}

/**
 * Returns the name of a project: the one in the package.json of the folder with its modules, else the folder's name.
 * When that is generic, such as `controllers`, it is the name of the parent folder. `undefined` when there is none.
 */
export function projectName(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const named = packageName(at);
    if (named !== undefined) return named.slice(named.lastIndexOf("/") + 1);
    const name = basename(at);
    if (!GENERIC.has(name)) return name === "" ? undefined : name;
  }
}

function packageName(folder: string): string | undefined {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly name?: unknown;
    } | null;
    return typeof manifest?.name === "string" && manifest.name !== "" ? manifest.name : undefined;
  } catch {
    return undefined; // there is none, or it is somebody else's to complain about
  }
}

/** Returns the name in a form that Kubernetes accepts; `undefined` when none can be converted to it. */
export function operatorName({ name, controllers }: NameValues, { embedded: { operator } }: Named): string | undefined {
  if (name !== undefined) return name;
  const operatorName = operator?.name ?? projectName(controllers[0] ?? ".");
  const spelled = operatorName
    ?.toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST)
    .replaceAll(/^[-0-9]+|(?<!-)-+$/g, "");
  return spelled === "" ? undefined : spelled;
}

/**
 * Returns the service account, whose name and namespace all deployed objects have.
 *
 * @throws UsageError when the name is invalid, or is that of an object of Kubernetes itself.
 */
export function operatorAccount(values: NameValues, host: Named): ServiceAccount {
  const { name: given, "service-account": account } = values;
  if (account !== undefined) {
    if (given !== undefined)
      throw new UsageError(
        "--name and --service-account are both given, and both name what is deployed: leave one out",
      );
    return refuseTaken(serviceAccount(account), `--service-account is '${account}'`);
  }
  if (given !== undefined && (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(given) || given.length > LONGEST)) {
    throw new UsageError(
      `--name is '${given}': expected at most ${LONGEST} lower-case letters, digits and '-', and a letter first`,
    );
  }
  const name = operatorName(values, host);
  if (name === undefined)
    throw new UsageError(
      "Cannot tell what the operator is called: neither a package.json nor its folder says so; give it a --name",
    );
  const origin = given === undefined ? `The operator is called '${name}'` : `--name is '${name}'`;
  return refuseTaken({ namespace: `${name}-system`, name }, origin);
}

function refuseTaken(account: ServiceAccount, origin: string): ServiceAccount {
  if (ROLES_OF_EVERY_CLUSTER.has(account.name)) {
    throw new UsageError(
      `${origin}: its ClusterRole would take the place of the one that every cluster has under this name, so choose another name`,
    );
  }
  if (account.namespace === "kube-system" && account.name === "kube")
    throw new UsageError(
      `${origin}: its namespace would be kube-system, which is that of the cluster itself, so choose another name`,
    );
  return account;
}

/** Parses a service account. @throws UsageError when it is not `namespace/name`. */
function serviceAccount(text: string): ServiceAccount {
  const match = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?)\/([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(text);
  if (match === null) throw new UsageError(`--service-account is '${text}': expected namespace/name`);
  return { namespace: match[1]!, name: match[3]! };
}
