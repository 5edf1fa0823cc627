/** `scale`: the number of replicas of a workload, whatever its kind. */
import type { Fields, KubeObject } from "../hooks.ts";
import { keyOf, type Resource } from "../registry/resource.ts";
import { answerObject } from "../request/answer.ts";
import { decodeObject, readBody } from "../request/body.ts";
import { writeOptions } from "../request/query.ts";
import { badRequest, conflict, invalid, notFound, type StatusError } from "../status.ts";
import { type Exchange, timestamp } from "../verbs/exchange.ts";
import { applyType, patchObject, readPatch } from "../verbs/patch.ts";
import { changeObject } from "../verbs/update.ts";

const scaleRow = { group: "autoscaling", version: "v1", kind: "Scale", custom: false };

export async function getScale(exchange: Exchange): Promise<Response> {
  const live = await liveObject(exchange);
  return answerObject(exchange.request, scaleOf(exchange.resource, live), { warnings: exchange.warnings });
}

export async function putScale(exchange: Exchange): Promise<Response> {
  const { kernel, request, query, warnings } = exchange;
  const options = writeOptions(query, "UpdateOptions");
  const body = await readBody(request, { protobuf: kernel.parts.protobuf(scaleRow), kind: scaleRow.kind });
  const { schemas } = kernel.parts;
  const scale = decodeObject(body, {
    row: scaleRow,
    schema: schemas.builtIn(scaleRow),
    schemas,
    fieldValidation: options.fieldValidation,
    warn: (message) => void warnings.push(message),
  });
  const { name } = scale.metadata;
  if (name && name !== exchange.target.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${exchange.target.name})`);
  return change(exchange, () => scale, { options, optionsKind: "UpdateOptions" });
}

export async function patchScale(exchange: Exchange): Promise<Response> {
  const body = await readPatch(exchange);
  const { schemas } = exchange.kernel.parts;
  const schema = schemas.builtIn(scaleRow);
  const isApply = body.type === applyType;
  const usual = isApply ? { ...body, type: "application/merge-patch+json" } : body;
  const apply = isApply ? { manager: body.options.fieldManager, force: body.options.force } : undefined;
  return change(
    exchange,
    (live) =>
      patchObject(exchange, usual, {
        live,
        row: scaleRow,
        schema,
        warn: (problem) => void exchange.warnings.push(problem),
      }),
    { options: body.options, optionsKind: "PatchOptions", apply },
  );
}

interface ScaleOptions {
  readonly options: ReturnType<typeof writeOptions>;
  readonly optionsKind: string;
  /** Set when the number is applied: by whom. */
  readonly apply?: { readonly manager: string; readonly force: boolean } | undefined;
}

async function change(
  exchange: Exchange,
  make: (scale: KubeObject) => KubeObject,
  { options, optionsKind, apply }: ScaleOptions,
): Promise<Response> {
  const { resource, request, warnings, target, kernel } = exchange;
  const { schema } = resource;
  const { stored } = await changeObject(exchange, {
    produce(live) {
      if (live === undefined) throw notFound(resource.row, target.name);
      const before = scaleOf(resource, live);
      // It is there while a patch is made, and not in answers.
      const { managedFields } = live.metadata;
      const scale = make({
        ...before,
        metadata: { ...before.metadata, ...(managedFields === undefined ? {} : { managedFields }) },
      });
      const given = scale.metadata.resourceVersion ?? "";
      if (given !== "" && given !== live.metadata.resourceVersion)
        throw conflict(resource.row, target.name, {
          why: "the object has been modified; please apply your changes to the latest version and try again",
        });
      const { replicas = 0 } = (scale["spec"] ?? {}) as { replicas?: number };
      if (replicas < 0) throw negative(target.name, replicas);
      if (apply !== undefined && schema !== undefined) {
        const applied: KubeObject = { apiVersion: live.apiVersion, kind: live.kind, metadata: {} };
        setAt(applied, specPath(resource), replicas);
        const context = { subresource: "scale", apiVersion: resource.apiVersion, now: timestamp(kernel.now()) };
        const result = kernel.parts.patches.apply({ schema, live, applied, ...apply, ...context, resetFields: [] });
        return withoutScaleTime(structuredClone(result), apply.manager);
      }
      const next = structuredClone(live);
      setAt(next, specPath(resource), replicas);
      return next;
    },
    isTracked: apply !== undefined && schema !== undefined,
    options,
    optionsKind,
    createsAbsent: false,
    isRepeatable: true,
  });
  return answerObject(request, scaleOf(resource, stored.object), { warnings });
}

/** The server leaves the time out of what is owned through a scale. */
function withoutScaleTime(object: KubeObject, manager: string): KubeObject {
  for (const entry of object.metadata.managedFields ?? []) {
    if (entry["subresource"] === "scale" && entry["manager"] === manager) delete entry["time"];
  }
  return object;
}

function negative(name: string, replicas: number): StatusError {
  const detail = "must be greater than or equal to 0";
  const errors = [{ type: "Invalid" as const, field: "spec.replicas", badValue: replicas, detail }];
  return invalid(scaleRow, name, { errors });
}

async function liveObject({ kernel, resource, target }: Exchange): Promise<KubeObject> {
  await kernel.storage.committed();
  const stored = resource.collection.get(keyOf(resource, target.namespace, target.name));
  if (stored === undefined) throw notFound(resource.row, target.name);
  const [view = stored] = await resource.view([stored]);
  return view.object;
}

function scaleOf(resource: Resource, object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const { statusPath, selector } = statusOf(resource, object);
  const replicas = numberAt(object, specPath(resource));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp ? { creationTimestamp } : {}),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, statusPath), ...(selector === "" ? {} : { selector }) },
  };
}

function specPath({ scale }: Resource): string[] {
  return path(scale?.specReplicas ?? ".spec.replicas");
}

function statusOf({ scale }: Resource, object: KubeObject): { statusPath: string[]; selector: string } {
  if (scale !== undefined) {
    const found = scale.labelSelector === undefined ? "" : at(object, path(scale.labelSelector));
    return { statusPath: path(scale.statusReplicas), selector: typeof found === "string" ? found : "" };
  }
  const { selector } = (object["spec"] ?? {}) as { selector?: Fields };
  return { statusPath: ["status", "replicas"], selector: selectorText(selector ?? {}) };
}

/** A label selector as text, in the order of keys. */
function selectorText(selector: Fields): string {
  const { matchLabels, matchExpressions } = selector as {
    matchLabels?: Record<string, string>;
    matchExpressions?: { key: string; operator: string; values?: string[] }[];
  };
  const isPlain = matchLabels === undefined && matchExpressions === undefined;
  const labels = (isPlain ? selector : (matchLabels ?? {})) as Record<string, string>;
  const parts = Object.entries(labels).map(([key, value]) => [key, `${key}=${value}`] as [key: string, text: string]);
  const words: Readonly<Record<string, string>> = { In: "in", NotIn: "notin" };
  for (const { key, operator, values = [] } of matchExpressions ?? []) {
    const text =
      operator === "Exists"
        ? key
        : operator === "DoesNotExist"
          ? `!${key}`
          : `${key} ${words[operator]} (${values.toSorted().join(",")})`;
    parts.push([key, text]);
  }
  return parts
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}

function path(text: string): string[] {
  return text.split(".").filter((part) => part !== "");
}

function at(object: unknown, names: readonly string[]): unknown {
  let value = object;
  for (const name of names) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Fields)[name];
  }
  return value;
}

function numberAt(object: unknown, names: readonly string[]): number {
  const value = at(object, names);
  return typeof value === "number" ? value : 0;
}

function setAt(object: Fields, names: readonly string[], value: unknown): void {
  let fields = object;
  for (const name of names.slice(0, -1)) {
    fields[name] ??= {};
    fields = fields[name] as Fields;
  }
  fields[names.at(-1) ?? ""] = value;
}
