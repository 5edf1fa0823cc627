/** Zod schemas whose structural schema is not read from zod's own definitions. */
import type { z } from "zod";
import type { StructuralSchema } from "./structural.ts";

/** It stands in the definition, which copies of a schema share: `.describe()` and `.meta()` make some. */
const given: unique symbol = Symbol("structural schema");

interface GivenDefinition {
  [given]?: () => StructuralSchema;
}

/** Says what a zod schema is in the API server. @param make is called whenever the schema is converted */
export function structural<S extends z.core.$ZodType>(schema: S, make: () => StructuralSchema): S {
  (schema._zod.def as GivenDefinition)[given] = make;
  return schema;
}

/** Returns what {@link structural} said; `undefined` for all other schemas. */
export function givenStructural(schema: z.core.$ZodType): StructuralSchema | undefined {
  return (schema._zod.def as GivenDefinition)[given]?.();
}
