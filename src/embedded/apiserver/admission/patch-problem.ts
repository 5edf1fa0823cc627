/** Explains why a JSON patch cannot be applied, in the words of kube-apiserver's library. */
import type { Fields, KubeObject } from "../hooks.ts";
import { jsonPatch } from "../patch/json-patch.ts";

/** Whether a test operation fails, so that the patch changes nothing. */
export function isFailedTest(object: KubeObject, patch: readonly Fields[]): boolean {
  const fits = (count: number): boolean => {
    try {
      jsonPatch(object, patch.slice(0, count));
      return true;
    } catch {
      return false;
    }
  };
  const failing = patch.findIndex((_, index) => !fits(index + 1));
  return patch[failing]?.["op"] === "test";
}

/** Explains a removal or replacement of something that does not exist; `undefined` for any other reason. */
export function patchProblem(object: KubeObject, patch: readonly unknown[]): string | undefined {
  for (const operation of patch as { op?: string; path?: string }[]) {
    const { op, path = "" } = operation;
    const steps = path
      .split("/")
      .slice(1)
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = steps.pop() ?? "";
    const parent = steps.reduce<unknown>((value, step) => (value as Fields | undefined)?.[step], object);
    const isThere = typeof parent === "object" && parent !== null && Object.hasOwn(parent, last);
    if (isThere) continue;
    if (op === "remove")
      return `error in remove for path: '${path}': Unable to remove nonexistent key: ${last}: missing value`;
    if (op === "replace") return `replace operation does not apply: doc is missing key: ${path}: missing value`;
  }
  return undefined;
}
