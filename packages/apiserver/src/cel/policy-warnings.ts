/**
 * Checks the expressions of a ValidatingAdmissionPolicy against the schemas of the kinds that it matches. @see
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#type-checking
 */
import type { Fields, GroupVersionKind, KubeObject } from "../hooks.ts";
import { customRow, specOf } from "../registry/custom-rows.ts";
import { schemaOf } from "../schema/custom.ts";
import { builtInRows, openApiV3 } from "../tables/tables.ts";
import { admissionVariables } from "./admission-types.ts";
import type { Variables } from "./checker.ts";
import { compiled } from "./compile.ts";
import { schemaType } from "./schema-type.ts";
import { dyn, remembered, type Type } from "./type.ts";

/** A warning as the status of the policy has it. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** A rule with more kinds is not looked at any further. */
const mostKinds = 10;

interface Rule {
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
}

/** The part of a policy that is looked at. */
export interface CheckedPolicy {
  readonly spec?: Spec | undefined;
}

interface Spec {
  readonly paramKind?: { readonly apiVersion?: string | undefined; readonly kind?: string | undefined } | undefined;
  readonly matchConstraints?: { readonly resourceRules?: readonly Rule[] | undefined } | undefined;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[] | undefined;
  readonly validations?:
    readonly { readonly expression: string; readonly messageExpression?: string | undefined }[] | undefined;
}

/**
 * Returns a warning for each expression of a validation, and of its message, that does not fit a kind.
 *
 * @param definitions the CustomResourceDefinitions of the cluster
 */
export function expressionWarnings(policy: CheckedPolicy, definitions: readonly object[]): ExpressionWarning[] {
  const spec = policy.spec ?? {};
  const kinds = new Kinds(definitions as readonly KubeObject[]);
  const scopes = kinds.matchedBy(spec.matchConstraints?.resourceRules ?? []).flatMap((kind) => {
    const type = kinds.typeOf(kind);
    return type === undefined ? [] : [{ kind, variables: variablesOf(spec, type, kinds) }];
  });
  const warnings: ExpressionWarning[] = [];
  const check = (fieldRef: string, expression: string): void => {
    const problems = scopes.flatMap(({ kind, variables }) => {
      const program = compiled(expression, variables);
      return typeof program === "string" ? [`${shown(kind)}: ${program}\n`] : [];
    });
    if (problems.length > 0) warnings.push({ fieldRef, warning: problems.join("\n") });
  };
  for (const [index, { expression, messageExpression }] of (spec.validations ?? []).entries()) {
    check(`spec.validations[${index}].expression`, expression);
    if (messageExpression) check(`spec.validations[${index}].messageExpression`, messageExpression);
  }
  return warnings;
}

function shown({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}

function variablesOf({ paramKind, variables = [] }: Spec, object: Type, kinds: Kinds): Variables {
  const own = new Map<string, Type>();
  const all = new Map(admissionVariables({ params: paramKind !== undefined, variables: own }));
  all.set("object", object).set("oldObject", object);
  all.delete("authorizer.requestResource");
  if (paramKind !== undefined) {
    const [group, version] = splitVersion(paramKind.apiVersion ?? "");
    all.set("params", kinds.typeOf({ group, version, kind: paramKind.kind ?? "" }) ?? dyn);
  }
  for (const { name, expression } of variables) {
    const program = compiled(expression, all);
    own.set(name, typeof program === "string" ? dyn : remembered(program.checked.type));
  }
  return all;
}

function splitVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

interface ServedKind extends GroupVersionKind {
  readonly plural: string;
  readonly singular: string;
  /** The definition of a custom kind. */
  readonly definition?: KubeObject;
}

/** The kinds of a cluster, with the types that OpenAPI gives them. */
class Kinds {
  readonly #all: readonly ServedKind[];
  readonly #documents = new Map<string, Definitions | undefined>();
  readonly #types = new Map<ServedKind, Type>();

  constructor(definitions: readonly KubeObject[]) {
    const custom = definitions.filter(isEstablished).flatMap((definition) =>
      specOf(definition)
        .versions.filter(({ served }) => served)
        .map((version) => ({ ...customRow(definition, version), definition })),
    );
    this.#all = [...builtInRows(), ...custom];
  }

  /** Returns the kinds of rules without wildcards, by group, version and kind. */
  matchedBy(rules: readonly Rule[]): ServedKind[] {
    const matched = new Set<ServedKind>();
    for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
      if ([...apiGroups, ...apiVersions].some((name) => name.includes("*"))) continue;
      const plain = resources.filter((name) => !/[*/]/.test(name)).toSorted();
      const found = apiGroups
        .toSorted()
        .flatMap((group) => apiVersions.toSorted().flatMap((version) => plain.map((name) => [group, version, name])))
        .flatMap(([group, version, name]) =>
          this.#all.filter(
            (kind) =>
              // The mapper takes an empty group for any.
              (group === "" || kind.group === group) &&
              kind.version === version &&
              (kind.plural === name || kind.singular === name),
          ),
        );
      for (const kind of found.slice(0, mostKinds)) matched.add(kind);
      if (found.length >= mostKinds) break;
    }
    const key = ({ group, version, kind }: ServedKind): string => `${group}\0${version}\0${kind}`;
    return [...matched].toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
  }

  /** Returns the type of a kind's objects; `undefined` when the kind is unknown. */
  typeOf({ group, version, kind }: GroupVersionKind): Type | undefined {
    const served = this.#all.find((one) => one.group === group && one.version === version && one.kind === kind);
    if (served === undefined) return undefined;
    const known = this.#types.get(served);
    if (known !== undefined) return known;
    const type = this.#makeType(served);
    if (type !== undefined) this.#types.set(served, type);
    return type;
  }

  #makeType(served: ServedKind): Type | undefined {
    const { group, version, kind, definition } = served;
    const path = group === "" ? `api/${version}` : `apis/${group}/${version}`;
    // Custom kinds have metadata, which all documents have; this one is small.
    const all = this.#document(definition === undefined ? path : "apis/coordination.k8s.io/v1");
    if (all === undefined) return undefined;
    const schema = definition === undefined ? all.byKind(served) : customSchema(definition, version);
    if (schema === undefined) return undefined;
    return schemaType(schemaOf(all.resolved(schema)), false, kind) ?? dyn;
  }

  #document(path: string): Definitions | undefined {
    if (!this.#documents.has(path)) {
      const bytes = openApiV3(path);
      this.#documents.set(path, bytes === undefined ? undefined : new Definitions(bytes));
    }
    return this.#documents.get(path);
  }
}

function isEstablished(definition: KubeObject): boolean {
  const { conditions = [] } = (definition["status"] ?? {}) as { conditions?: readonly Fields[] };
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}

const metadata = { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" };

function customSchema(definition: KubeObject, version: string): Fields {
  const own = specOf(definition).versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema ?? {};
  const text = { type: "string" };
  const properties = { ...(own["properties"] as Fields | undefined), apiVersion: text, kind: text, metadata };
  return { ...own, type: "object", properties };
}

/** The schemas of an OpenAPI document. */
class Definitions {
  readonly #schemas: Readonly<Record<string, Fields>>;

  constructor(document: Uint8Array) {
    const { components } = JSON.parse(Buffer.from(document).toString()) as { components: { schemas: Fields } };
    this.#schemas = components.schemas as Readonly<Record<string, Fields>>;
  }

  byKind({ group, version, kind }: GroupVersionKind): Fields | undefined {
    const key = "x-kubernetes-group-version-kind";
    return Object.values(this.#schemas).find(({ [key]: kinds }) =>
      ((kinds ?? []) as readonly GroupVersionKind[]).some(
        (one) => one.group === group && one.version === version && one.kind === kind,
      ),
    );
  }

  /** Replaces references by what they refer to; one that leads to itself becomes an object without fields. */
  resolved(schema: Fields, within: readonly string[] = []): Fields {
    const name = referenceOf(schema)?.slice("#/components/schemas/".length);
    if (name !== undefined && within.includes(name)) return { type: "object" };
    const path = name === undefined ? within : [...within, name];
    const { items, additionalProperties, properties, ...rest } =
      name === undefined ? schema : (this.#schemas[name] ?? {});
    const inner = (one: unknown): unknown =>
      typeof one === "object" && one !== null ? this.resolved(one as Fields, path) : one;
    const fields = Object.entries((properties ?? {}) as Fields).map(([key, one]) => [key, inner(one)] as const);
    return {
      ...rest,
      ...(rest["format"] === "int-or-string" ? { "x-kubernetes-int-or-string": true } : {}),
      ...(items === undefined ? {} : { items: inner(items) }),
      ...(typeof additionalProperties === "object" ? { additionalProperties: inner(additionalProperties) } : {}),
      ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
    };
  }
}

/** Returns what a schema refers to; with a description of its own, it has the reference in `allOf`. */
function referenceOf({ $ref, allOf }: Fields): string | undefined {
  if (typeof $ref === "string") return $ref;
  for (const one of (allOf ?? []) as readonly Fields[]) {
    const reference = referenceOf(one);
    if (reference !== undefined) return reference;
  }
  return undefined;
}
