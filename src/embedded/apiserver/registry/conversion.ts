/** How one form of a built-in kind becomes another. */
import type { KubeObject } from "../hooks.ts";

export interface Conversion {
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
  /** What a stored object has of the one that it replaces, where the row's form does not say otherwise. @default nothing */
  keep?(object: KubeObject, before: KubeObject): KubeObject;
}
