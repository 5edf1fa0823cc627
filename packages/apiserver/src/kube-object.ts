/** The shape of objects. */

/** A JSON object that belongs to the request, which may change it in place. */
export type Fields = Record<string, unknown>;

export interface ObjectMetadata extends Fields {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReferenceFields[];
  managedFields?: Fields[];
}

export interface OwnerReferenceFields extends Fields {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface KubeObject extends Fields {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetadata;
}
