/** Finds the texts of an object that readers of Events and logs must not see. */
import { definitionOf } from "./definition.ts";
import type { Resource } from "./handle.ts";
import { innerSecrets } from "./inner-secrets.ts";
import { SENSITIVE, type StructuralSchema } from "./schema/structural.ts";
import { ownField } from "./any-key.ts";

/** Lists the texts of an object, or of a patch of it, that must not be repeated elsewhere. */
export type SensitiveTexts = (object: unknown) => Iterable<string>;

const known = new WeakMap<Resource, { readonly texts: SensitiveTexts | undefined }>();

/** Returns the sensitive texts of a kind; `undefined` for the many kinds without any. */
export function sensitiveTexts(resource: Resource): SensitiveTexts | undefined {
  let entry = known.get(resource);
  if (entry === undefined) {
    entry = { texts: textsOf(resource) };
    known.set(resource, entry);
  }
  return entry.texts;
}

function textsOf(resource: Resource): SensitiveTexts | undefined {
  const builtIn = sensitiveTextsOfKind(resource);
  if (builtIn !== undefined) return builtIn;
  const schema = schemaWithMarks(resource);
  return schema && sensitiveTextsOf(schema);
}

/** Returns the sensitive texts of a built-in kind. */
export function sensitiveTextsOfKind({
  kind,
  group,
}: {
  readonly kind: string;
  readonly group: string;
}): SensitiveTexts | undefined {
  const texts = BUILT_IN[`${kind}.${group}`]?.texts;
  return texts && orPatch(texts);
}

/** Returns the sensitive texts that a schema marks; `undefined` when it marks none. */
export function sensitiveTextsOf(schema: StructuralSchema): SensitiveTexts | undefined {
  return isMarked(schema) ? orPatch((object) => markedTexts(schema, object)) : undefined;
}

const MARKED: StructuralSchema = { format: SENSITIVE };
const SECRET: StructuralSchema = { properties: { data: MARKED, stringData: MARKED } };
const WITH_TOKEN: StructuralSchema = { properties: { token: MARKED } };
const TOKENS: StructuralSchema = { properties: { spec: WITH_TOKEN, status: WITH_TOKEN } };

/** The kinds with secrets; a service account has a subresource that returns tokens in a TokenRequest. */
const BUILT_IN: Readonly<Record<string, { readonly schema: StructuralSchema; readonly texts: SensitiveTexts }>> = {
  "Secret.": { schema: SECRET, texts: secretTexts },
  "ServiceAccount.": { schema: TOKENS, texts: tokenTexts },
  "TokenRequest.authentication.k8s.io": { schema: TOKENS, texts: tokenTexts },
  "TokenReview.authentication.k8s.io": { schema: TOKENS, texts: tokenTexts },
};

/**
 * Returns the schema that marks the sensitive fields of a kind: of a built-in kind only these fields, of a kind that a
 * module defines the whole schema; `undefined` when neither is known.
 */
export function schemaWithMarks(resource: Resource): StructuralSchema | undefined {
  const builtIn = BUILT_IN[`${resource.kind}.${resource.group}`];
  if (builtIn !== undefined) return builtIn.schema;
  return definitionOf(resource)?.versions.find(({ name }) => name === resource.version)?.schema;
}

/** Takes a JSON patch as well, and JSON text. */
function orPatch(texts: SensitiveTexts): SensitiveTexts {
  return function* (content) {
    const body = typeof content === "string" ? parsed(content) : content;
    for (const object of Array.isArray(body) ? body.map(changed) : [body]) {
      if (typeof object !== "object" || object === null) continue;
      for (const text of texts(object)) {
        yield text;
        yield* innerSecrets(text);
      }
    }
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the value that an operation of a JSON patch sets, as an object with only that field; an entry of a list
 * becomes a field here.
 */
function changed(operation: unknown): unknown {
  const { path, value } = Object(operation) as { readonly path?: unknown; readonly value?: unknown };
  if (typeof path !== "string") return undefined;
  const names = path.split("/").slice(1);
  return names.reduceRight<unknown>(
    (inner, name) => ({ [name.replaceAll("~1", "/").replaceAll("~0", "~")]: inner }),
    value,
  );
}

function* secretTexts(object: unknown): Generator<string> {
  const { data, stringData } = object as { readonly data?: unknown; readonly stringData?: unknown };
  yield* allTexts(stringData);
  for (const value of allTexts(data)) {
    yield value;
    yield Buffer.from(value, "base64").toString();
  }
}

function tokenTexts(object: unknown): Generator<string> {
  return markedTexts(TOKENS, object);
}

function* markedTexts(schema: StructuralSchema, value: unknown): Generator<string> {
  if (schema.format === SENSITIVE) yield* allTexts(value);
  else if (typeof value !== "object" || value === null) return;
  else if (schema.items !== undefined) {
    for (const item of Object.values(value)) yield* markedTexts(schema.items, item);
  } else {
    for (const [name, field] of Object.entries(value)) {
      const inner = ownField(schema.properties ?? {}, name) ?? additional(schema);
      if (inner !== undefined) yield* markedTexts(inner, field);
    }
  }
}

function isMarked(schema: StructuralSchema): boolean {
  const inner = [...Object.values(schema.properties ?? {}), schema.items, additional(schema)];
  return schema.format === SENSITIVE || inner.some((one) => one !== undefined && isMarked(one));
}

function additional({ additionalProperties }: StructuralSchema): StructuralSchema | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

function* allTexts(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) yield* allTexts(inner);
}
