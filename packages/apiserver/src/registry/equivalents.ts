/** Finds the other versions and groups in which a kind is served, which an admission rule may name instead. */
import type { Equivalent, KindRow, KubeObject, Reader } from "../hooks.ts";
import { convertObjects } from "../admission/conversion.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { conversionOf, storageGroup } from "./conversions.ts";
import { customRow, specOf } from "./custom-rows.ts";
import type { KindRegistry } from "./kind-registry.ts";
import { apiVersionOf } from "./resource.ts";

interface Parts {
  readonly registry: KindRegistry;
  readonly reader: Reader;
}

export function equivalentsOf(row: KindRow, around: Parts): readonly Equivalent[] {
  return row.custom ? customEquivalents(row, around) : builtInEquivalents(row, around);
}

const builtIn = new WeakMap<KindRow, readonly Equivalent[]>();

function builtInEquivalents(row: KindRow, { registry }: Parts): readonly Equivalent[] {
  const known = builtIn.get(row);
  if (known !== undefined) return known;
  const others = registry
    .rows()
    .filter(
      (one) => !one.custom && one !== row && one.plural === row.plural && storageGroup(one) === storageGroup(row),
    );
  const list = others.map((other): Equivalent => {
    const convert = (from: KindRow, to: KindRow) => {
      const [stored, shown] = [conversionOf(from), conversionOf(to)];
      return (object: KubeObject): KubeObject => {
        if (object.kind !== row.kind) return object;
        const inner = stored?.toStorage(object) ?? object;
        return { ...(shown?.fromStorage(inner) ?? inner), apiVersion: apiVersionOf(to) };
      };
    };
    const back = convert(other, row);
    const conversion = conversionOf(other);
    const revert: Equivalent["revert"] = (object, before) => {
      const reverted = back(object);
      return object.kind === row.kind ? (conversion?.keep?.(reverted, before) ?? reverted) : reverted;
    };
    return { row: other, convert: convert(row, other), revert };
  });
  builtIn.set(row, list);
  return list;
}

/** Finds all other versions of the definition, also those that are not served, as kube-apiserver does. */
function customEquivalents(row: KindRow, { registry, reader }: Parts): readonly Equivalent[] {
  const name = `${row.plural}.${row.group}`;
  const definition = reader.get({ group: "apiextensions.k8s.io", plural: "customresourcedefinitions" }, { name });
  if (definition === undefined) return [];
  const { versions } = specOf(definition);
  const { strategy } = (definition["spec"] as { conversion?: { strategy?: string } }).conversion ?? {};
  const into = (apiVersion: string) => (object: KubeObject) => {
    if (object.kind !== row.kind) return object;
    if (strategy !== "Webhook") return { ...object, apiVersion };
    return convertObjects(definition, [object], { apiVersion, reader }).then(([one = object]) => one);
  };
  return versions
    .filter((version) => version.name !== row.version)
    .map((version): Equivalent => {
      const other = customRow(definition, version);
      const revert = into(apiVersionOf(row));
      return {
        row: other,
        convert: into(apiVersionOf(other)),
        revert(object) {
          const schema = registry.get(other.group, other.version, other.plural)?.schema;
          if (schema === undefined || object.kind !== row.kind) return revert(object);
          const whole = structuredClone(object);
          applyDefaults(schema, whole);
          return revert(whole);
        },
      };
    });
}
