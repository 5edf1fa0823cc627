/** Applies objects to a server in this process. */
import type { KubeObject } from "../hooks.ts";
import { parseJson, writeJson } from "../numbers.ts";
import type { ApiServer } from "../server.ts";
import type { NamedObject } from "./manifests.ts";

/** Who owns the fields of what is applied. */
const MANAGER = "binnacle-apiserver";
const DEFINITION = "CustomResourceDefinition";

interface ServedKind {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/**
 * Applies objects on the server's side, definitions and namespaces first, because others need them; a definition's kind is served
 * when this is over.
 *
 * @returns the objects as they are stored, in the order in which they were applied.
 * @throws Error that names the object which the server refuses.
 */
export async function applyObjects(server: ApiServer, objects: readonly NamedObject[]): Promise<KubeObject[]> {
  const stored: KubeObject[] = [];
  for (const one of objects.toSorted((a, b) => rankOf(a.object) - rankOf(b.object))) {
    try {
      const { kind } = one.object;
      const object = await applied(server, one.object);
      stored.push(kind === DEFINITION ? await established(server, object) : object);
    } catch (error) {
      throw new Error(`Cannot apply ${one.name}: ${(error as Error).message}`, { cause: error });
    }
  }
  return stored;
}

function rankOf({ kind }: KubeObject): number {
  return kind === DEFINITION ? 0 : kind === "Namespace" ? 1 : 2;
}

async function applied(server: ApiServer, object: KubeObject): Promise<KubeObject> {
  const path = await collectionPath(server, object);
  const { name } = object.metadata ?? {};
  // What the server is to name can only be created.
  if (name === undefined) return requested(server, path, { method: "POST", type: "application/json", object });
  return requested(server, `${path}/${encodeURIComponent(name)}?fieldManager=${MANAGER}&force=true`, {
    method: "PATCH",
    type: "application/apply-patch+yaml",
    object,
  });
}

async function collectionPath(server: ApiServer, { apiVersion, kind, metadata }: KubeObject): Promise<string> {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const response = await server.fetch(new Request(`https://server${root}`));
  const { resources } = (response.ok ? await response.json() : { resources: [] }) as {
    readonly resources: readonly ServedKind[];
  };
  const served = resources.find((one) => one.kind === kind && !one.name.includes("/"));
  if (served === undefined)
    throw new Error(`the server has no kind ${kind} in ${apiVersion}; apply its definition, too`);
  return served.namespaced
    ? `${root}/namespaces/${encodeURIComponent(metadata?.namespace ?? "default")}/${served.name}`
    : `${root}/${served.name}`;
}

interface Write {
  readonly method: string;
  readonly type: string;
  readonly object: KubeObject;
}

async function requested(server: ApiServer, path: string, { method, type, object }: Write): Promise<KubeObject> {
  const headers = { "content-type": type };
  const init = { method, headers, body: writeJson(object) };
  const response = await server.fetch(new Request(`https://server${path}`, init));
  const answer = parseJson(await response.text()) as KubeObject & { readonly message?: string };
  if (!response.ok) throw new Error(answer.message ?? `the server answers ${response.status}`);
  return answer;
}

/** Waits until the server has accepted or refused a definition's names, which it does after each write of one. */
async function established(server: ApiServer, { metadata }: KubeObject): Promise<KubeObject> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`;
  for (;;) {
    const definition = (await (await server.fetch(new Request(`https://server${path}`))).json()) as {
      readonly status?: { readonly conditions?: readonly Condition[] };
    } & KubeObject;
    const conditions = definition.status?.conditions ?? [];
    const refusal = conditions.find(({ type, status }) => type === "NamesAccepted" && status === "False");
    if (refusal !== undefined) throw new Error(refusal.message);
    if (conditions.some(({ type, status }) => type === "Established" && status === "True")) return definition;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}
