/** The language of rules: CEL with Kubernetes' libraries. @see https://kubernetes.io/docs/reference/using-api/cel/ */
import type { Environment } from "@marcbachmann/cel-js";
import { registerConversions } from "./conversions.ts";
import { celLibrary } from "./library.ts";
import { registerLists } from "./lists.ts";
import { registerLoops, registerOptionals } from "./macro-functions.ts";
import { registerMatches } from "./matches.ts";
import { registerNetwork } from "./network.ts";
import { registerQuantities } from "./quantities.ts";
import { registerVersions } from "./semver.ts";
import { registerStrings } from "./strings.ts";

let plain: Environment | undefined;
let optional: Environment | undefined;

/** Creates the environment at its first use; `self` and `oldSelf` may have any type. */
export function celEnvironment(): Environment {
  return (plain ??= created("dyn"));
}

/** Creates the environment of rules with `optionalOldSelf`; the interpreter must know that `oldSelf` is an optional. */
export function optionalEnvironment(): Environment {
  return (optional ??= created("optional<dyn>"));
}

function created(oldSelf: string): Environment {
  const limit = 1_000_000;
  const library = celLibrary();
  const environment = new library.Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: limit,
      maxDepth: 1000,
      maxListElements: limit,
      maxMapEntries: limit,
      maxCallArguments: 1000,
    },
  })
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", oldSelf);
  registerLists(environment);
  registerLoops(environment);
  registerOptionals(environment);
  registerStrings(environment);
  registerMatches(environment);
  registerConversions(environment);
  registerQuantities(environment);
  registerNetwork(environment);
  registerVersions(environment);
  return environment;
}
