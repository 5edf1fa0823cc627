/** One version of a built-in kind with everything that serves it. */
import type { Fields, KindRow, KubeObject } from "../hooks.ts";
import { printerOf } from "../printers/printers.ts";
import { decodeKubeObject } from "../schema/kube-object.ts";
import type { Schema } from "../schema/schema.ts";
import { builtInSchema } from "../tables/tables.ts";
import { behaviourOf } from "../validation/behaviours.ts";
import { Stored } from "../storage/stored.ts";
import type { Storage } from "../storage/storage.ts";
import { conversionOf, storageGroup } from "./conversions.ts";
import { withLifecycle } from "./lifecycle.ts";
import { apiVersionOf, type Resource } from "./resource.ts";
import { traitsOf } from "./traits.ts";

const deprecations: Readonly<Record<string, string>> = {
  "v1/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
  "v1/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
};

export function builtInResource(row: KindRow, storage: Storage): Resource {
  const conversion = conversionOf(row);
  const readsLess = row.group === "" && row.kind === "Service";
  const convert = conversion
    ? (object: KubeObject) => conversion.fromStorage(object)
    : readsLess
      ? readService
      : undefined;
  const views = new WeakMap<Stored, Stored>();
  const apiVersion = apiVersionOf(row);
  let schema: Schema | undefined;
  let isResolved = false;
  let status: { readonly value: unknown } | undefined;
  return {
    row,
    apiVersion,
    collection: storage.collection(`${storageGroup(row)}/${row.plural}`),
    // The schema is unpacked with the first request for the kind, because most kinds are never requested.
    get schema() {
      if (!isResolved) schema = builtInSchema(row);
      isResolved = true;
      return schema;
    },
    behaviour: withLifecycle(row, behaviourOf(row)),
    printer: printerOf(row),
    traits: traitsOf(row),
    hasStatus: row.subresources.some(({ name }) => name === "status"),
    selectablePaths: [],
    scale: undefined,
    deprecationWarning: deprecations[`${apiVersion}/${row.plural}`],
    retired: undefined,
    get emptyStatus() {
      if (row.custom || this.schema === undefined || !this.hasStatus) return undefined;
      const bare = { kind: row.kind, apiVersion, metadata: {} };
      status ??= { value: decodeKubeObject(this.schema, bare).object["status"] };
      return status.value;
    },
    readsLess,
    view(stored) {
      if (convert === undefined) return stored;
      return stored.map((one) => {
        const known = views.get(one);
        if (known !== undefined) return known;
        const object = convert(one.object);
        const view = object === one.object ? one : new Stored(one.key, one.version, { object });
        views.set(one, view);
        return view;
      });
    },
    toStorage: (object) => conversion?.toStorage(object) ?? object,
  };
}

/** Leaves out `internalTrafficPolicy` of external services, which older versions stored without need. */
function readService(service: KubeObject): KubeObject {
  const spec = service["spec"] as Fields;
  if (spec["type"] !== "ExternalName" || spec["internalTrafficPolicy"] === undefined) return service;
  const { internalTrafficPolicy: _, ...rest } = spec;
  return { ...service, spec: rest };
}
