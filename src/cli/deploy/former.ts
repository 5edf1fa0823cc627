/**
 * Finds objects of an earlier version of the manifests that this version no longer has, because `kubectl apply` leaves
 * them in the cluster.
 */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { isDnsSubdomain } from "../../resource/label-name.ts";
import { shellWord } from "../shell-word.ts";
import { UserError } from "../usage-error.ts";
import { messageOf } from "../../platform/error-message.ts";

interface Named {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: { readonly namespace?: unknown; readonly name?: unknown } | undefined;
}

/** A manifest as kubectl identifies it. */
interface Identity {
  /** The type, such as `configmap`, or `certificate.cert-manager.io` for a custom resource. */
  readonly type: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Reads the earlier manifests. @throws UserError when the file cannot be read or is not YAML. */
export function readFormer(file: string): readonly object[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(`Cannot read '${file}' (--former): ${messageOf(error)}`);
  }
  const documents = parseAllDocuments(text, { version: "1.1" });
  const wrong = "empty" in documents ? undefined : documents.flatMap(({ errors }) => errors)[0];
  if (wrong !== undefined) throw new UserError(`Cannot read '${file}' (--former): it is not YAML: ${wrong.message}`);
  return documents.map((one) => one.toJS() as unknown).filter((one) => typeof one === "object" && one !== null);
}

/**
 * Returns the commands that remove objects which the manifests no longer contain, the last applied first; empty when
 * there are none.
 */
export function removals(former: readonly object[], now: readonly object[]): readonly string[] {
  const currentKeys = new Set(now.flatMap((one) => keyOf(identityOf(one))));
  return former
    .flatMap((one) => identityOf(one) ?? [])
    .filter((one) => !keyOf(one).some((key) => currentKeys.has(key)))
    .toReversed()
    .map((one) => {
      const place = one.namespace === undefined ? "" : ` --namespace=${one.namespace}`;
      // A name that begins with a dash would be a flag by itself.
      const object = one.name.startsWith("-")
        ? shellWord(`${one.type}/${one.name}`)
        : `${one.type} ${shellWord(one.name)}`;
      const warning = one.type === "customresourcedefinition" ? "   # removes every object of the kind, too" : "";
      return `kubectl delete ${object}${place}${warning}`;
    });
}

/**
 * Returns `undefined` for a manifest that no API server accepts. Names of objects may have any characters, namespaces
 * and types may not.
 */
function identityOf(manifest: Named): Identity | undefined {
  const { apiVersion, kind, metadata } = manifest;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof metadata?.name !== "string")
    return undefined;
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  // Groups of Kubernetes itself can be left out.
  const isBuiltIn = !group.includes(".") || group.endsWith(".k8s.io");
  const namespace = typeof metadata.namespace === "string" ? metadata.namespace : undefined;
  if (!/^[A-Za-z][-A-Za-z0-9]*$/.test(kind) || ![group, namespace].every((one) => !one || isDnsSubdomain(one)))
    return undefined;
  return { type: `${kind.toLowerCase()}${isBuiltIn ? "" : `.${group}`}`, namespace, name: metadata.name };
}

function keyOf(identity: Identity | undefined): readonly string[] {
  return identity === undefined ? [] : [`${identity.type} ${identity.namespace ?? ""}/${identity.name}`];
}
