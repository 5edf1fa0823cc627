/** The brand of definitions, and the values behind it. */
import type { AnyObjectController, KeyController } from "../controller/definition.ts";
import { CONTRACT_VERSION, versionSkew } from "../resource/contract-version.ts";
import type { Definition } from "./definition.ts";
import type { AnyWebhook } from "../webhook/definition.ts";
import type { Plugin } from "./plugin.ts";

/** The symbol that all copies of the SDK share, so definitions are recognized across module graphs. */
const brand = Symbol.for("binnacle.definition");

/** The run-time side of {@link Definition}. */
export type Defined =
  | { readonly type: "controller"; readonly controller: AnyObjectController }
  | { readonly type: "key-controller"; readonly controller: KeyController }
  | { readonly type: "webhook"; readonly webhook: AnyWebhook }
  | { readonly type: "plugin"; readonly plugin: Plugin };

export function branded(defined: Defined): Definition {
  return Object.freeze({ ...defined, [brand]: CONTRACT_VERSION }) as unknown as Definition;
}

/** Returns the definition behind a value, if it is one. @throws TypeError for another version of the contract. */
export function asDefinition(value: unknown): Defined | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const version = (value as { readonly [brand]?: unknown })[brand];
  if (version === undefined) return undefined;
  if (version !== CONTRACT_VERSION) throw new TypeError(versionSkew("a definition", version));
  return value as Defined;
}
