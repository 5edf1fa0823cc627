/** Converts between two forms of a built-in kind. */
import type { KubeObject } from "../hooks.ts";

export interface Conversion {
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
  /**
   * Returns the object to be stored, with the fields that it takes over from the stored one beyond those that the row's
   * form implies.
   * @default nothing
   */
  keep?(object: KubeObject, before: KubeObject): KubeObject;
}
