/** What the core asks of the parts that know schemas, patches, rules, admission and printing. */
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

/** Owned by the part that resolves schemas; the core only passes it on. */
export type SchemaHandle = object;

/** An object in another version of its kind; `undefined` when that is not served. */
export type ConvertVersion = (
  object: KubeObject,
  apiVersion: string,
) => { readonly object: KubeObject; readonly schema: SchemaHandle } | undefined;

export interface ManagedFieldsRequest {
  readonly schema: SchemaHandle;
  /** `undefined` when the object is being created. */
  readonly live: KubeObject | undefined;
  readonly next: KubeObject;
  /** `next` has empty lists or maps. @default false */
  readonly hasEmpty?: boolean;
  readonly manager: string;
  readonly operation: "Update";
  readonly subresource: string;
  readonly apiVersion: string;
  /** RFC 3339 in whole seconds. */
  readonly now: string;
  /** Paths that the write cannot change. */
  readonly resetFields: readonly (readonly string[])[];
  /** @default as if all versions were alike */
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
  /** @default as if all versions were alike */
  readonly convert?: ConvertVersion | undefined;
}

export interface Decoded {
  readonly object: KubeObject;
  /** Why it cannot be decoded, in the server's words. */
  readonly error: string | undefined;
  /** Such as `unknown field "spec.x"`. */
  readonly unknown: readonly string[];
  /** It has empty lists or maps, which storage does not keep. */
  readonly hasEmpty: boolean;
}

interface ValidateOptions {
  readonly old: KubeObject | undefined;
  readonly only?: "status" | undefined;
  readonly scale?: ScaleFields | undefined;
}

export interface Schemas {
  /** Every served version of every built-in kind, in the order of discovery. */
  rows(): readonly KindRow[];
  builtIn(kind: GroupVersionKind): SchemaHandle | undefined;
  custom(openApi: Fields, row: KindRow): SchemaHandle;
  /** The object as its type is decoded and encoded again, without what the type does not know. */
  /** `value` when it comes from parsed values and not from text: errors are worded differently. */
  decode(schema: SchemaHandle, object: KubeObject, from: "json" | "value"): Decoded;
  /** Without empty lists and maps, as storage gives it back. */
  stored(schema: SchemaHandle, object: KubeObject): KubeObject;
  /** With its fields in the order they are written in. */
  ordered(schema: SchemaHandle, object: KubeObject): KubeObject;
  applyDefaults(schema: SchemaHandle, object: KubeObject): void;
  /** `only` leaves everything but the status unchecked. */
  validate(schema: SchemaHandle, object: KubeObject, options: ValidateOptions): readonly FieldError[];
  /** The documents of `/openapi/v3`, as JSON. */
  openApiV3(path: string): Uint8Array | undefined;
  openApiV3Paths(): readonly string[];
  /** As JSON. */
  openApiV2(): Uint8Array;
  openApiV2Protobuf(): Uint8Array;
  openApiV3Hash(path: string): string | undefined;
}

/** None of these changes its arguments; each throws a StatusError. */
export interface Patches {
  /** What strict decoding finds in a JSON patch. */
  strictErrors(operations: unknown): readonly string[];
  json(object: KubeObject, operations: unknown): KubeObject;
  merge(object: KubeObject, patch: unknown): KubeObject;
  strategic(schema: SchemaHandle, object: KubeObject, patch: unknown): KubeObject;
  apply(request: ApplyRequest): KubeObject;
  /** An object with fields laid over it, as apply lays them, without owners of fields. */
  lay(schema: SchemaHandle, object: KubeObject, over: KubeObject): KubeObject;
  updateManagedFields(request: ManagedFieldsRequest): KubeObject;
  /** The managers of a scale, from those of the object. */
  scaleEntries(entries: readonly Fields[] | undefined, paths: ReplicasPaths): Fields[] | undefined;
  /** The managers of an object, from its own and those of its scale. */
  scaledEntries(
    entries: readonly Fields[] | undefined,
    scale: readonly Fields[] | undefined,
    to: { readonly paths: ReplicasPaths; readonly apiVersion: string },
  ): Fields[] | undefined;
}

export interface Machinery {
  readonly schemas: Schemas;
  readonly patches: Patches;
  /** Reads bodies of a built-in kind in protobuf; `undefined` where the kind has no such form. */
  protobuf(row: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly custom: boolean;
  }): ((bytes: Uint8Array) => Fields) | undefined;
  behaviourOf(row: KindRow): KindBehaviour;
  /** The rules that hold for the metadata of every object in a namespace. */
  validateMetadata(object: KubeObject): readonly FieldError[];
  createAdmission(options: AdmissionOptions): Admission;
  /** Custom objects in another version of theirs. */
  convert(
    definition: KubeObject,
    objects: readonly KubeObject[],
    to: { readonly apiVersion: string; readonly reader: Reader },
  ): Promise<readonly KubeObject[]>;
  printerOf(row: KindRow): Printer;
  customPrinter(columns: readonly Fields[]): Printer;
}
