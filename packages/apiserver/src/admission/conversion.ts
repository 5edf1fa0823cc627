/**
 * Converts custom objects between the versions of their kind. @see
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
 */
import { randomUUID } from "node:crypto";
import type { Fields, KubeObject, Reader } from "../hooks.ts";
import { StatusError } from "../status.ts";
import type { ClientConfig } from "./webhook.ts";
import { post } from "./webhook-client.ts";

interface Conversion {
  readonly strategy?: string;
  readonly webhook?: { readonly clientConfig?: ClientConfig; readonly conversionReviewVersions?: readonly string[] };
}

/**
 * Converts objects of a CustomResourceDefinition, which all have one version.
 *
 * @returns new objects in the order of the given ones
 * @throws StatusError 500 when the webhook fails
 */
export async function convertObjects(
  definition: KubeObject,
  objects: readonly KubeObject[],
  { apiVersion, reader }: { readonly apiVersion: string; readonly reader: Reader },
): Promise<readonly KubeObject[]> {
  const conversion = ((definition["spec"] as Fields)["conversion"] ?? {}) as Conversion;
  const foreign = objects.filter((object) => object.apiVersion !== apiVersion);
  if (foreign.length === 0) return objects;
  if (conversion.strategy !== "Webhook") return objects.map((object) => ({ ...object, apiVersion }));
  const first = foreign[0]!;
  const subject = `conversion webhook for ${first.apiVersion}, Kind=${first.kind}`;
  const failed = (why: string): StatusError => new StatusError(500, "", { message: `${subject} failed: ${why}` });
  const returned = (what: string): StatusError => new StatusError(500, "", { message: `${subject} returned ${what}` });
  const version = conversion.webhook?.conversionReviewVersions?.find((each) => each === "v1" || each === "v1beta1");
  if (version === undefined) throw failed("no supported conversion review versions");
  const uid: string = randomUUID();
  const reviewVersion = `apiextensions.k8s.io/${version}`;
  const body = {
    kind: "ConversionReview",
    apiVersion: reviewVersion,
    request: { uid, desiredAPIVersion: apiVersion, objects: foreign },
    response: { uid: "", convertedObjects: null, result: { metadata: {} } },
  };
  let answer: unknown;
  try {
    answer = await post(conversion.webhook?.clientConfig ?? {}, body, { reader, timeout: 30 });
  } catch (error) {
    throw failed(error instanceof Error ? error.message : String(error));
  }
  const converted = read(answer, { uid, reviewVersion, failed });
  if (converted.length !== foreign.length) {
    throw returned(`${converted.length} objects, expected ${foreign.length}`);
  }
  let next = 0;
  return objects.map((object, index) => {
    if (object.apiVersion === apiVersion) return object;
    const place = objects.length === 1 ? undefined : index;
    return checked(converted[next++]!, { object, place, apiVersion, returned });
  });
}

interface Expected {
  readonly uid: string;
  readonly reviewVersion: string;
  readonly failed: (why: string) => StatusError;
}

function read(answer: unknown, { uid, reviewVersion, failed }: Expected): readonly KubeObject[] {
  const review = (typeof answer === "object" && answer !== null ? answer : {}) as Fields;
  const [group, version] = reviewVersion.split("/");
  if (review["apiVersion"] !== reviewVersion || review["kind"] !== "ConversionReview") {
    const expected = `${group}/${version}, Kind=ConversionReview`;
    const [apiVersion, kind] = [String(review["apiVersion"] ?? ""), String(review["kind"] ?? "")];
    const given = `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
    throw failed(`expected webhook response of ${expected}, got ${given}`);
  }
  const response = review["response"] as Fields | undefined;
  if (!response) throw failed("no response provided");
  if (version === "v1" && response["uid"] !== uid) {
    throw failed(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response["uid"] ?? "")}`);
  }
  const result = (response["result"] ?? {}) as { status?: string; message?: string };
  if (result.status !== "Success") {
    throw failed(
      result.message ? result.message : "response.result.status was '" + (result.status ?? "") + "', not 'Success'",
    );
  }
  return (response["convertedObjects"] ?? []) as KubeObject[];
}

interface Checked {
  readonly object: KubeObject;
  /** The object's index in a list; `undefined` for a single object. */
  readonly place: number | undefined;
  readonly apiVersion: string;
  readonly returned: (what: string) => StatusError;
}

/** Checks a converted object: of its metadata only labels and annotations may differ. */
function checked(converted: KubeObject, { object, place, apiVersion, returned }: Checked): KubeObject {
  const what = place === undefined ? "invalid object" : `invalid converted object at index ${place}`;
  const at = place === undefined ? `${what} at index 0` : what;
  if (converted.apiVersion !== apiVersion) {
    throw returned(`${at}: invalid groupVersion (expected ${apiVersion}, received ${converted.apiVersion})`);
  }
  if (converted.kind !== object.kind) {
    throw returned(`${at}: invalid kind (expected ${object.kind}, received ${converted.kind})`);
  }
  // The converted part of an object may lack metadata.
  const given = (object.metadata ?? {}) as Fields;
  const named = { name: "name", namespace: "namespace", uid: "UID" } as const;
  for (const [field, name] of Object.entries(named)) {
    const [before = "", after = ""] = [given[field], converted.metadata[field]] as (string | undefined)[];
    if (before !== after) throw returned(`${what}: must have the same ${name}: ${before} != ${after}`);
  }
  const { labels, annotations } = converted.metadata;
  const { labels: _, annotations: __, ...kept } = given;
  return { ...converted, metadata: { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) } };
}
