/** The list of conditions in a status. */
import { z } from "zod";
import { labelKeyProblem } from "./label-name.ts";
import type { Condition } from "./meta.ts";

/**
 * The schema of `status.conditions`. The names are checked where conditions are set.
 *
 * It is a list keyed by `type`, so that several controllers can each keep their own; types that are not named here
 * are accepted too, because another controller may set them.
 *
 * @see https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties
 * @example
 * status: z.object({ conditions: conditions("Ready", "Degraded") })
 */
export function conditions<const T extends string = string>(
  ...types: readonly T[]
): z.ZodOptional<z.ZodType<Condition<T>[], Condition<T>[]>> {
  for (const [index, type] of types.entries()) {
    const problem = types.indexOf(type) < index ? "it is given twice" : labelKeyProblem(type);
    if (problem !== undefined) throw new TypeError(`Cannot use condition ${JSON.stringify(type)}: ${problem}`);
  }
  // These are the rules of metav1.Condition, word for word.
  const condition = z.object({
    type: z
      .string()
      .max(316)
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
      ),
    status: z.enum(["True", "False", "Unknown"]),
    observedGeneration: z.int().min(0).optional(),
    lastTransitionTime: z.iso.datetime({ offset: true }),
    reason: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
    message: z.string().max(32768),
  });
  const list = z.array(condition).meta({ listType: "map", listMapKeys: ["type"] });
  return list.optional() as unknown as z.ZodOptional<z.ZodType<Condition<T>[], Condition<T>[]>>;
}
