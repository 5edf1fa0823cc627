/** Objects of custom kinds, as the API server sends them. */

type Fields = Readonly<Record<string, unknown>>;

/** An object that is to be converted, or was. */
export interface WireObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Fields;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** An object, or a part of one that may lack metadata. */
export type PartialObject = Omit<WireObject, "metadata"> & { readonly metadata?: Fields | null | undefined };
