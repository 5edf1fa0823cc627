/** The brand of definitions, and what stands behind it. */
import type { AnyObjectController, KeyController } from "../controller/definition.ts";
import { CONTRACT_VERSION, versionSkew } from "../resource/contract-version.ts";
import type { Definition } from "./definition.ts";
import type { AnyWebhook } from "../webhook/definition.ts";
import type { Plugin } from "./plugin.ts";

/** Shared by every copy of the SDK, so that a definition is known across module graphs; never `instanceof`. */
const brand = Symbol.for("binnacle.definition");

/** The run-time side of {@link Definition}. */
export type Defined =
  | { readonly type: "controller"; readonly controller: AnyObjectController }
  | { readonly type: "key-controller"; readonly controller: KeyController }
  | { readonly type: "webhook"; readonly webhook: AnyWebhook }
  | { readonly type: "plugin"; readonly plugin: Plugin };

/** Brands a definition. */
export function branded(defined: Defined): Definition {
  return Object.freeze({ ...defined, [brand]: CONTRACT_VERSION }) as unknown as Definition;
}

/**
 * The definition behind a value, `undefined` for anything else.
 *
 * @throws TypeError when the value was made for another version of the contract.
 */
export function asDefinition(value: unknown): Defined | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const version = (value as { readonly [brand]?: unknown })[brand];
  if (version === undefined) return undefined;
  if (version !== CONTRACT_VERSION) throw new TypeError(versionSkew("a definition", version));
  return value as Defined;
}
