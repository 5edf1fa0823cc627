/** The interface of subresources to which an object is posted. */
import type { Fields, KubeObject } from "../hooks.ts";
import type { ApiCall } from "../verbs/api-call.ts";

export interface Action {
  /** Earlier versions of the object's kind that are decoded as well. @default none */
  readonly alsoFrom?: readonly string[];
  /** Adds the defaults of the object's kind. @default none */
  readonly addDefaults?: (object: KubeObject) => void;
  /** Returns the object in the form that admission sees. @default as it was sent */
  readonly complete?: (object: KubeObject) => KubeObject;
  /** Calls admission, acts, and returns the object of the answer. @throws StatusError */
  readonly run: (call: ApiCall, object: KubeObject, options: ActionOptions) => Promise<Fields>;
}

export interface ActionOptions {
  readonly dryRun: boolean;
  /** Calls validating admission with the completed object. @throws StatusError when it rejects the object */
  readonly admit: (object: KubeObject) => Promise<void>;
}
