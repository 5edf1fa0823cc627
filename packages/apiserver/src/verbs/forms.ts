/** The forms in which an object is served: itself, its metadata, or rows of a table. */
import type { Fields, KubeObject } from "../hooks.ts";
import { writeJson } from "../numbers.ts";
import { storedForm } from "../schema/kube-object.ts";
import { internalType } from "../registry/internal-type.ts";
import type { Resource } from "../registry/resource.ts";
import type { Accepted } from "../request/accept.ts";
import { badRequest, StatusError } from "../status.ts";
import { Stored } from "../storage/stored.ts";
import type { ApiCall } from "./api-call.ts";

/** The part of each object that a table contains beside its cells. */
type IncludeObject = "Metadata" | "None" | "Object";

/** Makes the JSON of an object, or of the object in an event, in the requested form. */
export interface Form {
  readonly isPlain: boolean;
  one(stored: Stored): string;
  /** Returns the members of a list's JSON except its metadata: `items` and those beside it. */
  list(stored: readonly Stored[], metadata: Fields): string;
  /** Returns the object of a watch event: a table describes its columns only once. */
  event(stored: Stored): string;
}

/** Returns the requested form. @throws StatusError 400 when the table's options are wrong. */
export function formOf({ accept, resource, query, kernel }: ApiCall): Form {
  if (accept.form === "PartialObjectMetadata") return metadataForm(accept, resource);
  if (accept.form !== "Table") return plainForm(resource);
  const include = (query.get("includeObject") || "Metadata") as IncludeObject;
  if (!["Metadata", "None", "Object"].includes(include)) {
    const why = `includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`;
    throw badRequest(`Unable to convert to Table as requested: ${why}`);
  }
  return tableForm(resource, { include, formVersion: accept.formVersion, now: kernel.now });
}

function plainForm(resource: Resource): Form {
  const { row, apiVersion } = resource;
  const prefix = `{"kind":${JSON.stringify(row.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  // Items of built-in kinds do not repeat the kind and version of their list.
  const item = ({ json, object }: Stored): string => {
    if (row.custom) return json;
    if (json.startsWith(prefix)) return `{${json.slice(prefix.length)}`;
    const { kind: _, apiVersion: __, ...rest } = object;
    return writeJson(rest);
  };
  return {
    isPlain: true,
    one: ({ json }) => json,
    list(stored, metadata) {
      const own = { kind: row.listKind || `${row.kind}List`, apiVersion };
      const head = JSON.stringify({ ...own, metadata: row.custom ? { continue: "", ...metadata } : metadata });
      return `${head.slice(0, -1)},"items":[${stored.map(item).join(",")}]}`;
    },
    event: ({ json }) => json,
  };
}

/** Annotations that the forms of metadata leave out, because kube-apiserver's internal objects do not have them. */
const ofVersions: Readonly<Record<string, readonly string[]>> = {
  DaemonSet: ["deprecated.daemonset.template.generation"],
  HorizontalPodAutoscaler: ["metrics", "behavior", "current-metrics", "conditions"].map(
    (name) => `autoscaling.alpha.kubernetes.io/${name}`,
  ),
};

function partial({ kind, metadata: whole }: KubeObject, formVersion: string): Fields {
  const hidden = whole.annotations !== undefined && Object.hasOwn(ofVersions, kind) ? ofVersions[kind] : undefined;
  const metadata = hidden === undefined ? whole : without(hidden, whole);
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${formVersion}`, metadata };
}

function without(hidden: readonly string[], whole: KubeObject["metadata"]): KubeObject["metadata"] {
  const { annotations = {}, ...metadata } = whole;
  const visible = Object.entries(annotations).filter(([name]) => !hidden.includes(name));
  return visible.length === 0 ? metadata : { ...whole, annotations: Object.fromEntries(visible) };
}

function metadataForm({ formVersion, isListForm }: Accepted, { row }: Resource): Form {
  const one = ({ object }: Stored): string => writeJson(partial(object, formVersion));
  const type = (suffix: "" | "List"): string =>
    row.custom ? `*unstructured.Unstructured${suffix}` : `*${internalType({ ...row, kind: row.kind + suffix })}`;
  return {
    isPlain: false,
    one(stored) {
      // The scale of a custom object is a Go type, unlike the object itself.
      const isScale = row.group === "autoscaling";
      if (isListForm && row.custom && isScale) throw otherForm("PartialObjectMetadataList", "not a list (*v1.Scale)");
      if (isListForm && row.custom) throw new StatusError(500, "", { message: "content is not a list" });
      if (isListForm) throw otherForm("PartialObjectMetadataList", `not a list (${type("")})`);
      return one(stored);
    },
    list(stored, metadata) {
      if (!isListForm) throw otherForm("PartialObjectMetadata", `a list (${type("List")})`);
      const own = { kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${formVersion}`, metadata };
      const items = stored.length === 0 ? "null" : `[${stored.map(one).join(",")}]`;
      return `${JSON.stringify(own).slice(0, -1)},"items":${items}}`;
    },
    event: one,
  };
}

function otherForm(requested: string, actual: string): StatusError {
  const message = `you requested ${requested}, but the requested object is ${actual}`;
  return new StatusError(406, "NotAcceptable", { message });
}

const endOfInitial = "k8s.io/initial-events-end";

interface TableOptions {
  readonly include: IncludeObject;
  readonly formVersion: string;
  readonly now: () => number;
}

function tableForm(resource: Resource, { include, formVersion, now }: TableOptions): Form {
  const { printer } = resource;
  const rowOf = ({ object }: Stored, at: number): Fields => ({
    cells: printer.cells(object, at),
    ...completion(object),
    // This annotation marks the end of the initial events in every form.
    object:
      include === "None" && object.metadata.annotations?.[endOfInitial] === undefined
        ? null
        : include === "Object"
          ? object
          : partial(object, formVersion),
  });
  const table = (metadata: Fields, rows: readonly Fields[] | null, columns: unknown): string =>
    writeJson({
      kind: "Table",
      apiVersion: `meta.k8s.io/${formVersion}`,
      metadata,
      columnDefinitions: columns,
      rows,
    });
  const { order } = printer;
  const inOrder = (stored: readonly Stored[]): readonly Stored[] =>
    order === undefined ? stored : stored.toSorted((one, other) => order(one.object, other.object));
  const versionOf = ({ object }: Stored): Fields => ({ resourceVersion: object.metadata.resourceVersion });
  // The real server makes the rows of kinds without a printer in another way.
  const isUnprinted = !resource.row.custom && JSON.stringify(printer.columns).includes('"Created At"');
  let hasSaidColumns = false;
  return {
    isPlain: false,
    one: (stored) => table(versionOf(stored), [rowOf(stored, now())], printer.columns),
    list(stored, metadata) {
      const at = now();
      const rows = inOrder(stored).map((one) => rowOf(one, at));
      return table(metadata, rows.length === 0 && isUnprinted ? null : rows, printer.columns);
    },
    event(stored) {
      const columns = hasSaidColumns ? null : printer.columns;
      hasSaidColumns = true;
      return table(versionOf(stored), [rowOf(stored, now())], columns);
    },
  };
}

/** Marks the row of a terminated pod, so that clients may leave it out. */
function completion({ apiVersion, kind, ...object }: KubeObject): Fields {
  if (kind !== "Pod" || apiVersion !== "v1") return {};
  const { phase } = (object["status"] ?? {}) as { readonly phase?: string };
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  if (phase !== "Succeeded" && phase !== "Failed") return {};
  return { conditions: [{ type: "Completed", status: "True", reason: phase, message }] };
}

interface Bookmark {
  readonly version: number;
  /** Whether all initial events have been sent. */
  readonly isEnd: boolean;
}

/** Returns the object of a bookmark: its kind, a version, and the zero values of its type. */
export function bookmark({ resource }: ApiCall, { version, isEnd }: Bookmark): Stored {
  const { row, apiVersion, schema } = resource;
  const annotations = isEnd ? { annotations: { [endOfInitial]: "true" } } : {};
  const metadata = { resourceVersion: String(version), ...annotations };
  const bare: KubeObject = { kind: row.kind, apiVersion, metadata };
  const object = row.custom || schema === undefined ? bare : storedForm(schema, bare);
  if (row.group === "apps") zeros[row.kind]?.(object);
  return new Stored("", version, { object });
}

/** Adds to the empty object of a bookmark the zero values that kube-apiserver's internal objects have. */
const zeros: Readonly<Record<string, (object: KubeObject) => void>> = {
  Deployment: withoutReplicas,
  ReplicaSet: withoutReplicas,
  StatefulSet: withoutReplicas,
  DaemonSet: ({ metadata }) =>
    void (metadata.annotations = { [ofVersions["DaemonSet"]![0]!]: "0", ...metadata.annotations }),
};

function withoutReplicas(object: KubeObject): void {
  object["spec"] = { replicas: 0, ...(object["spec"] as Fields | undefined) };
}
