/** The names of a resource, which are derived from the kind and checked like the API server does. */
import { isDnsSubdomain } from "./label-name.ts";

/** Replacements of derived names. */
export interface NamesInput {
  /** The name in paths and `kubectl get`. @default the English plural of the kind in lower case */
  readonly plural?: string | undefined;
  /** @default the kind in lower case */
  readonly singular?: string | undefined;
  /** @default the kind and `List` */
  readonly listKind?: string | undefined;
  /** Short names such as `gb`, for `kubectl get gb`. @default none */
  readonly shortNames?: readonly string[] | undefined;
  /** Categories such as `all`, for `kubectl get all`. @default none */
  readonly categories?: readonly string[] | undefined;
}

export interface ResourceNames {
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** Returns the English plural of a word in lower case. */
export function pluralOf(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}

const label = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const kindName = /^[A-Z][A-Za-z0-9]{0,62}$/;

/**
 * Returns the checked names of a kind.
 *
 * @throws TypeError naming the invalid name and the allowed ones.
 */
export function namesOf(kind: string, names: NamesInput): ResourceNames {
  const singular = names.singular ?? kind.toLowerCase();
  const plural = names.plural ?? pluralOf(kind.toLowerCase());
  const listKind = names.listKind ?? `${kind}List`;
  for (const [what, name] of [
    ["kind", kind],
    ["names.listKind", listKind],
  ] as const) {
    if (!kindName.test(name))
      throw wrong(what, name, 'must be letters and digits that begin with a capital, such as "Guestbook"');
  }
  const { shortNames = [], categories = [] } = names;
  const labels = [
    ["names.plural", plural],
    ["names.singular", singular],
    ...shortNames.map((name) => ["names.shortNames", name] as const),
    ...categories.map((name) => ["names.categories", name] as const),
  ] as const;
  for (const [what, name] of labels) {
    if (!label.test(name)) throw wrong(what, name, 'must be small letters, digits and "-" that begin with a letter');
  }
  if (listKind === kind) throw wrong("names.listKind", listKind, "must differ from the kind");
  return {
    kind,
    listKind,
    plural,
    singular,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
}

/** Checks the group. @throws TypeError when a custom resource cannot have it. */
export function checkGroup(group: string): void {
  if (!isDnsSubdomain(group) || !group.includes(".")) {
    throw wrong("group", group, 'must be a DNS name with a dot, such as "demo.example.com"');
  }
  if (/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) {
    throw wrong(
      "group",
      group,
      "must not end in k8s.io or kubernetes.io: these belong to Kubernetes, use a domain of your own",
    );
  }
}

/** Checks a version's name. @throws TypeError when it is invalid. */
export function checkVersion(version: string): void {
  if (!/^v[1-9][0-9]{0,8}(?:(?:alpha|beta)[1-9][0-9]{0,8})?$/.test(version)) {
    throw wrong("version", version, 'must be such as "v1", "v1beta1" or "v2alpha1"');
  }
}

function wrong(what: string, value: string, advice: string): TypeError {
  return new TypeError(`'${what}' ${advice}: current value is ${JSON.stringify(value)}`);
}
