/** Converts between two forms of a built-in kind. */
import type { KubeObject } from "../hooks.ts";

export interface Conversion {
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
  /**
   * Returns what an object to be stored takes over from the one that it replaces, beyond what the row's form says.
   * @default nothing
   */
  keep?(object: KubeObject, before: KubeObject): KubeObject;
}
