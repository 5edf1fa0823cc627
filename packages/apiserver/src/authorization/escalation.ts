/** Prevents privilege escalation: nobody can grant permissions that they do not have. */
import { goQuoted } from "../field-error.ts";
import type { PolicyRule, UserInfo, UserRules } from "../hooks.ts";
import { missingRoles } from "./authorizer.ts";
import { coversPath } from "./rules.ts";

/** A rule with one verb for one resource or URL. */
interface Atom {
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  readonly name?: string;
  readonly url?: string;
}

interface Granting {
  readonly user: UserInfo;
  /** The rules of the user. */
  readonly own: UserRules;
  readonly granted: readonly PolicyRule[];
  /** The resource that is written; the real server names it also when a role is missing. */
  readonly plural: string;
}

/** Returns in kube-apiserver's words which permissions the user lacks; `undefined` when it has all of them. */
export function escalation({ user, own, granted, plural }: Granting): string | undefined {
  const missing = granted.flatMap(atomsOf).filter((atom) => !own.rules.some((rule) => covers(rule, atom)));
  if (missing.length === 0) return undefined;
  const groups = user.groups.map(goQuoted).join(" ");
  const held = `user ${goQuoted(user.username)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held`;
  const errors = own.missing.length === 0 ? "" : `; resolution errors: [${missingRoles(own.missing, plural)}]`;
  return `${held}:\n${described(missing).join("\n")}${errors}`;
}

function atomsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): readonly Atom[] {
  const atoms: Atom[] = [];
  for (const group of apiGroups ?? []) {
    for (const resource of resources ?? []) {
      for (const verb of verbs ?? []) {
        if (!resourceNames?.length) atoms.push({ verb, group, resource });
        else for (const name of resourceNames) atoms.push({ verb, group, resource, name });
      }
    }
  }
  for (const url of nonResourceURLs ?? []) for (const verb of verbs ?? []) atoms.push({ verb, url });
  return atoms;
}

function covers(rule: PolicyRule, { verb, group, resource, name, url }: Atom): boolean {
  if (!includes(rule.verbs, verb)) return false;
  if (url !== undefined) return rule.nonResourceURLs?.some((one) => coversPath(one, url)) === true;
  if (!includes(rule.apiGroups, group) || !coversResource(rule.resources, resource ?? "")) return false;
  return !rule.resourceNames?.length || (name !== undefined && rule.resourceNames.includes(name));
}

function includes(list: readonly string[] | null | undefined, item: string | undefined): boolean {
  return list?.some((one) => one === "*" || one === item) === true;
}

function coversResource(resources: PolicyRule["resources"], resource: string): boolean {
  if (includes(resources, resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && resources?.includes(`*/${resource.slice(slash + 1)}`) === true;
}

/** Returns one line per resource with all missing verbs, sorted. */
function described(missing: readonly Atom[]): readonly string[] {
  const byResource = new Map<string, string[]>();
  const lines: string[] = [];
  for (const { verb, group, resource, name, url } of missing) {
    if (url !== undefined) {
      lines.push(`{NonResourceURLs:[${goQuoted(url)}], Verbs:[${goQuoted(verb)}]}`);
      continue;
    }
    const named = name === undefined ? "" : `, ResourceNames:[${goQuoted(name)}]`;
    const what = `APIGroups:[${goQuoted(group ?? "")}], Resources:[${goQuoted(resource ?? "")}]${named}`;
    byResource.set(what, [...(byResource.get(what) ?? []), goQuoted(verb)]);
  }
  for (const [what, verbs] of byResource) lines.push(`{${what}, Verbs:[${verbs.join(" ")}]}`);
  return [...new Set(lines)].sort();
}
