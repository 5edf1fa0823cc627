/** The interfaces through which the core uses schemas, patches, rules, admission and printing. */
import type { FieldError } from "./field-error.ts";
import type {
  Admission,
  AdmissionOptions,
  Fields,
  GroupVersionKind,
  KindBehaviour,
  KindRow,
  KubeObject,
  Printer,
  Reader,
} from "./hooks.ts";
import type { ReplicasPaths } from "./patch/scale-managers.ts";
import type { ScaleFields } from "./schema/scale-values.ts";

/** Belongs to the part that resolves schemas; the core only passes it on. */
export type SchemaHandle = object;

/** Converts an object to another version of its kind; `undefined` when that is not served. */
export type ConvertVersion = (
  object: KubeObject,
  apiVersion: string,
) => { readonly object: KubeObject; readonly schema: SchemaHandle } | undefined;

export interface ManagedFieldsRequest {
  readonly schema: SchemaHandle;
  /** The live object; `undefined` when it is being created. */
  readonly live: KubeObject | undefined;
  readonly next: KubeObject;
  /** Whether `next` has empty lists or maps. @default false */
  readonly hasEmpty?: boolean;
  /** Whether the live object was written under another definition, whose types may have been others. @default false */
  readonly isOlder?: boolean;
  /** The object of the request, where its path does not write all of what differs from the live object. @default `next` */
  readonly sent?: KubeObject | undefined;
  readonly manager: string;
  readonly operation: "Update";
  readonly subresource: string;
  readonly apiVersion: string;
  /** The time as RFC 3339 in whole seconds. */
  readonly now: string;
  /** Paths that the write cannot change. */
  readonly resetFields: readonly (readonly string[])[];
  /** Converts between versions. @default all versions are alike */
  readonly convert?: ConvertVersion | undefined;
}

export interface ApplyRequest {
  readonly schema: SchemaHandle;
  readonly live: KubeObject | undefined;
  readonly applied: Fields;
  readonly manager: string;
  readonly force: boolean;
  readonly subresource: string;
  readonly apiVersion: string;
  readonly kind?: string;
  readonly now: string;
  readonly resetFields: readonly (readonly string[])[];
  /** Converts between versions. @default all versions are alike */
  readonly convert?: ConvertVersion | undefined;
}

export interface Decoded {
  readonly object: KubeObject;
  /** Why it cannot be decoded, in the server's words. */
  readonly error: string | undefined;
  /** The unknown fields, such as `unknown field "spec.x"`. */
  readonly unknown: readonly string[];
  /** Whether it has empty lists or maps, which storage does not keep. */
  readonly hasEmpty: boolean;
}

interface ValidateOptions {
  readonly old: KubeObject | undefined;
  readonly only?: "status" | undefined;
  readonly scale?: ScaleFields | undefined;
  /** Called with rules that unchanged parts break, which does not refuse the object. */
  readonly warn?: ((problem: string) => void) | undefined;
}

export interface Schemas {
  /** Every served version of every built-in kind, in the order of discovery. */
  rows(): readonly KindRow[];
  builtIn(kind: GroupVersionKind): SchemaHandle | undefined;
  custom(openApi: Fields, row: KindRow): SchemaHandle;
  /**
   * Decodes the object as its type and encodes it again, without unknown fields. With `value` the object comes from
   * parsed values, whose error messages differ from those of text.
   */
  decode(schema: SchemaHandle, object: KubeObject, from: "json" | "value"): Decoded;
  /** Removes empty lists and maps, as storage does. */
  stored(schema: SchemaHandle, object: KubeObject): KubeObject;
  applyDefaults(schema: SchemaHandle, object: KubeObject): void;
  /** Validates an object; `only` restricts this to the status. */
  validate(schema: SchemaHandle, object: KubeObject, options: ValidateOptions): readonly FieldError[];
  /** Returns a document of `/openapi/v3` as JSON. */
  openApiV3(path: string): Uint8Array | undefined;
  openApiV3Paths(): readonly string[];
  /** Returns the document as JSON. */
  openApiV2(): Uint8Array;
  openApiV2Protobuf(): Uint8Array;
  openApiV3Hash(path: string): string | undefined;
}

/** None of these changes its arguments; each throws a StatusError. */
export interface Patches {
  /** Returns what strict decoding finds in a JSON patch. */
  strictErrors(operations: unknown): readonly string[];
  json(object: KubeObject, operations: unknown): KubeObject;
  merge(object: KubeObject, patch: unknown): KubeObject;
  strategic(schema: SchemaHandle, object: KubeObject, patch: unknown): KubeObject;
  apply(request: ApplyRequest): KubeObject;
  /** Merges fields over an object as apply does, without owners of fields. */
  lay(schema: SchemaHandle, object: KubeObject, over: KubeObject): KubeObject;
  updateManagedFields(request: ManagedFieldsRequest): KubeObject;
  /** Derives the managers of a scale from those of its object. */
  scaleEntries(entries: readonly Fields[] | undefined, paths: ReplicasPaths): Fields[] | undefined;
  /** Derives the managers of an object from its own and those of its scale. */
  scaledEntries(
    entries: readonly Fields[] | undefined,
    scale: readonly Fields[] | undefined,
    to: { readonly paths: ReplicasPaths; readonly apiVersion: string },
  ): Fields[] | undefined;
}

export interface Machinery {
  readonly schemas: Schemas;
  readonly patches: Patches;
  /** Returns a decoder of protobuf bodies of a built-in kind; `undefined` where the kind has no such encoding. */
  protobuf(row: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly custom: boolean;
  }): ((bytes: Uint8Array) => Fields) | undefined;
  behaviourOf(row: KindRow): KindBehaviour;
  /** Validates the metadata of any object in a namespace. */
  validateMetadata(object: KubeObject): readonly FieldError[];
  createAdmission(options: AdmissionOptions): Admission;
  /** Converts custom objects to another version of their kind. */
  convert(
    definition: KubeObject,
    objects: readonly KubeObject[],
    to: { readonly apiVersion: string; readonly reader: Reader },
  ): Promise<readonly KubeObject[]>;
  printerOf(row: KindRow): Printer;
  customPrinter(columns: readonly Fields[]): Printer;
}
