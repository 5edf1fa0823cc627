/**
 * ConversionReview: the request of the API server to a conversion webhook, and its response.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response
 */
import { isFields } from "../../resource/json.ts";
import type { ResourceDefinition } from "../../resource/definition.ts";
import { withoutSecrets } from "../../observe/known-secrets.ts";
import { KeptSecrets } from "../../reconcile/kept-secrets.ts";
import { sensitiveTextsOf } from "../../resource/sensitive.ts";
import { InexactBody } from "./exact-numbers.ts";
import { ConversionError, convertObject } from "./convert-object.ts";
import type { PartialObject, WireObject } from "./wire-object.ts";
import type { RecentObjects } from "./recent-objects.ts";

const GROUP = "apiextensions.k8s.io";
const VERSIONS: readonly string[] = [`${GROUP}/v1`, `${GROUP}/v1beta1`];

/** A readable request. */
export interface ConversionReview {
  /** The apiVersion of the review itself, which the response repeats. */
  readonly apiVersion: string;
  readonly uid: string;
  /** The requested version, such as `demo.example.com/v1`. */
  readonly desiredAPIVersion: string;
  readonly objects: readonly unknown[];
  /** A whole number that JavaScript cannot represent exactly; `undefined` when there is none. */
  readonly inexact: string | undefined;
}

/** Thrown for anything but a ConversionReview; its message describes the problem. */
export class MalformedReview extends Error {
  override readonly name = "MalformedReview" as const;
}

/** A kind whose objects can be converted. */
export interface ConvertibleKind {
  readonly definition: ResourceDefinition;
  /** Calls the author's functions in the context of their module. */
  readonly invoke: <T>(fn: () => T) => T;
}

/** Returns the kind with a group and a name; `undefined` when no module defines it. */
export type KindLookup = (group: string, kind: string) => ConvertibleKind | undefined;

/** The failure of a review: its error, and the object that caused it. */
export interface ConversionFailure {
  readonly error: unknown;
  /** The object, such as `Guestbook default/first`. */
  readonly object: string;
  readonly from: string;
  readonly to: string;
  /** Removes the sensitive values of the object from a text. */
  readonly clean: (text: string) => string;
}

export interface ReviewedConversion {
  /** The response. */
  readonly json: string;
  /** How many objects the response contains. */
  readonly converted: number;
  readonly failure: ConversionFailure | undefined;
}

/** Reads a review from a decoded body. @throws MalformedReview */
export function parseReview(received: unknown): ConversionReview {
  const [review, inexact] = received instanceof InexactBody ? [received.body, received.number] : [received, undefined];
  if (!isFields(review)) throw new MalformedReview("the body is no object");
  const { kind = "ConversionReview", apiVersion = VERSIONS[0], request } = review;
  if (kind !== "ConversionReview") throw new MalformedReview(`kind is ${text(kind)}, expected "ConversionReview"`);
  if (!VERSIONS.includes(apiVersion as string)) {
    throw new MalformedReview(`apiVersion is ${text(apiVersion)}, expected "${VERSIONS.join('" or "')}"`);
  }
  if (!isFields(request)) throw new MalformedReview("there is no request");
  const { uid = "", desiredAPIVersion, objects } = request;
  if (typeof uid !== "string") throw new MalformedReview("request.uid is no text");
  if (typeof desiredAPIVersion !== "string") throw new MalformedReview("request.desiredAPIVersion is no text");
  if (!Array.isArray(objects ?? [])) throw new MalformedReview("request.objects is no list");
  const list = (objects ?? []) as readonly unknown[];
  return { apiVersion: apiVersion as string, uid, desiredAPIVersion, objects: list, inexact };
}

/**
 * Converts all objects of a review, or none: if one cannot be converted, the whole response is a failure, as the API
 * server expects. Never throws.
 *
 * @param remembered the objects of earlier reviews.
 */
export function answerReview(
  review: ConversionReview,
  { find, remembered }: { readonly find: KindLookup; readonly remembered?: RecentObjects | undefined },
): ReviewedConversion {
  const { apiVersion, uid, desiredAPIVersion, objects } = review;
  // Only a single object may be a part; a list would evict the objects with which parts are compared.
  const recent = objects.length === 1 ? remembered : undefined;
  const [group, version] = splitVersion(desiredAPIVersion);
  const converted: WireObject[] = [];
  let current: unknown;
  let known: { readonly name: string; readonly kind: ConvertibleKind } | undefined;
  try {
    if (review.inexact !== undefined) {
      throw new ConversionError(
        `the number ${review.inexact} has no exact value in JavaScript: keep such numbers as text`,
      );
    }
    for (current of objects) {
      if (!isObject(current)) throw new ConversionError("an object needs apiVersion and kind");
      const object = current;
      if (splitVersion(object.apiVersion)[0] !== group) {
        throw new ConversionError(`its apiVersion is ${object.apiVersion}, and an object cannot move to another group`);
      }
      if (known?.name !== object.kind) known = { name: object.kind, kind: kindNamed(object.kind, { group, find }) };
      const { definition, invoke } = known.kind;
      converted.push(invoke(() => convertObject(definition, object, { to: version, recent })));
    }
    const response = { uid, convertedObjects: converted, result: { status: "Success" } };
    const json = JSON.stringify({ kind: "ConversionReview", apiVersion, response });
    return { json, converted: converted.length, failure: undefined };
  } catch (error) {
    const clean = cleanerOf(current, known?.kind.definition);
    const failure = { error, object: subjectOf(current), from: fromOf(current), to: version, clean };
    const response = { uid, convertedObjects: [], result: { status: "Failure", message: clean(messageOf(failure)) } };
    return { json: JSON.stringify({ kind: "ConversionReview", apiVersion, response }), converted: 0, failure };
  }
}

/** Returns a function that removes sensitive values: API servers log the response and show it to clients. */
function cleanerOf(object: unknown, definition: ResourceDefinition | undefined): (text: string) => string {
  const schema = definition?.versions.find(({ name }) => name === fromOf(object))?.schema;
  const texts = schema && sensitiveTextsOf(schema);
  if (texts === undefined) return withoutSecrets;
  const secrets = new KeptSecrets();
  secrets.add(object, texts);
  return (text) => secrets.clean(text);
}

function kindNamed(
  name: string,
  { group, find }: { readonly group: string; readonly find: KindLookup },
): ConvertibleKind {
  const kind = find(group, name);
  if (kind === undefined) throw new ConversionError(`no module that runs here defines the kind ${name} of ${group}`);
  return kind;
}

function splitVersion(apiVersion: string): readonly [group: string, version: string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/** Reports an error of an author's function in the words of controller-runtime. */
function messageOf({ error, object, from, to }: ConversionFailure): string {
  const isOwn = error instanceof ConversionError;
  const what = isOwn ? "Cannot convert" : "internal error occurred during conversion of";
  return `${what} ${object} from ${from} to ${to}: ${error instanceof Error ? error.message : String(error)}`;
}

function subjectOf(object: unknown): string {
  if (!isObject(object)) return "an object";
  const { name, namespace } = (object.metadata ?? {}) as { readonly name?: unknown; readonly namespace?: unknown };
  const key = [namespace, name].filter((part) => typeof part === "string" && part !== "").join("/");
  return key === "" ? object.kind : `${object.kind} ${key}`;
}

function fromOf(object: unknown): string {
  return isObject(object) ? splitVersion(object.apiVersion)[1] : "no version";
}

function isObject(value: unknown): value is PartialObject {
  if (!isFields(value)) return false;
  const { apiVersion, kind, metadata } = value;
  return typeof apiVersion === "string" && typeof kind === "string" && (metadata == null || isFields(metadata));
}

function text(value: unknown): string {
  return JSON.stringify(value) ?? "undefined";
}
