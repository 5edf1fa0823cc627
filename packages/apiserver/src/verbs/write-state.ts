/** A write of an object: the request, and the object as the steps have changed it so far. */
import type { AdmissionAttributes, KubeObject, WriteContext } from "../hooks.ts";
import type { WriteOptions } from "../request/query.ts";
import type { Schema } from "../schema/schema.ts";
import type { Stored } from "../storage/stored.ts";
import type { ApiCall } from "./api-call.ts";

/** A write under way. Each step may replace `object` or reject the write by throwing a StatusError. */
export interface Write {
  readonly call: ApiCall;
  readonly request: WriteRequest;
  readonly context: WriteContext;
  /** The object before the write, as it is stored; `undefined` for a new one. */
  readonly stored: Stored | undefined;
  /** The object before the write, in the version of the request; `undefined` for a new one. */
  readonly live: KubeObject | undefined;
  /** The object before the write, as the path shows it: `live`, or the lens's view of it. */
  readonly before: KubeObject | undefined;
  /** The schema of the kind that the path takes. */
  readonly schema: Schema | undefined;
  /** The object before the first step. */
  readonly sent: KubeObject;
  readonly attributes: AdmissionAttributes;
  object: KubeObject;
  /** Whether the server made the name of the new object. */
  isNameGenerated: boolean;
  /** The object without the empty lists and maps that storage does not keep; set when the kind has prepared it. */
  encoded: KubeObject;
  /** The object as the answer shows it; `undefined` until it is stored, or when another write came first. */
  result: Stored | undefined;
}

export interface WriteRequest {
  readonly options: WriteOptions;
  readonly optionsKind: "CreateOptions" | "UpdateOptions" | "PatchOptions";
  /** Whether the object has its managed fields, as after server-side apply. @default false */
  readonly isTracked?: boolean;
  /** Whether a new object was sent as an update or an apply, which keeps more of its metadata. @default false */
  readonly isUpdate?: boolean;
  /** Whether the version was taken from the live object, so that a concurrent change is no conflict. @default false */
  readonly isRepeatable?: boolean;
  /** Converts between the object and the other kind as which the path shows it. @default none */
  readonly lens?: Lens;
}

/** Converts an object to an object of another kind, and back. */
export interface Lens {
  /** The apiVersion of the other kind. */
  readonly apiVersion: string;
  readonly schema: Schema | undefined;
  /** Returns the object as responses show it. */
  readonly show: (object: KubeObject) => KubeObject;
  /** Returns the object before a change, with its managers. */
  readonly before: (live: KubeObject) => KubeObject;
  /** Converts the changed object back. @throws StatusError when that is impossible */
  readonly after: (visible: KubeObject, live: KubeObject) => KubeObject;
}
