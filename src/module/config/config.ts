/** The declaration of a module's configuration: `config(z.object({ … }))`. */
import { z } from "zod";
import { currentModule, moduleInStack } from "#runtime/current-module";
import { keepSecret } from "../../observe/known-secrets.ts";
import { LOGGED_AS } from "../../observe/loggable.ts";
import { filesInStack } from "../../platform/error-owner.ts";
import type { DeepReadonly } from "../../resource/meta.ts";
import { type DeclaredConfig, declaredConfig, type Resolved, resolveConfig, resolveProperty } from "./resolve.ts";
import { variableOf } from "./fields.ts";
import { type ConfigSources, NO_SOURCES } from "./sources.ts";

declare const schemaOf: unique symbol;

/** The values of a module's configuration. They do not change: a module whose configuration changes is reloaded. */
export type Config<S extends z.ZodObject = z.ZodObject> = DeepReadonly<z.output<S>> & { readonly [schemaOf]?: S };

export interface ConfigOptions {
  /**
   * The first part of the variables' names, and the name of the section in files.
   *
   * @default the name of the module whose file calls `config`, without its ending
   */
  readonly name?: string | undefined;
}

/** The configuration of a module, with its values from when the module was loaded. */
export interface ModuleConfig extends DeclaredConfig, Resolved {
  /** Whether the author has given it its name. */
  readonly isNamed: boolean;
}

/** A module that is being loaded, and the configurations that it declares meanwhile. */
interface ConfigLoad {
  readonly sources: ConfigSources;
  /** Returns the name of a configuration that is declared in one of these files, innermost first. */
  readonly nameFor: (files: readonly string[]) => string;
  readonly configs: ModuleConfig[];
  readonly secrets: DisposableStack;
  hasEnded: boolean;
}

/** The loads, by the object that represents the running module. */
const loads = new WeakMap<object, ConfigLoad>();

export interface BegunLoad extends Disposable {
  /** The configurations that have been declared so far. */
  readonly configs: readonly ModuleConfig[];
  /** From here on nothing can be declared. */
  end(): void;
}

/**
 * Determines the values of the configurations that a module's code declares. Its secrets are kept out of the log until
 * it is disposed of.
 */
export function beginConfigLoad(module: object, origin: Pick<ConfigLoad, "sources" | "nameFor">): BegunLoad {
  const load: ConfigLoad = { ...origin, configs: [], secrets: new DisposableStack(), hasEnded: false };
  loads.set(module, load);
  return {
    configs: load.configs,
    end: () => void (load.hasEnded = true),
    [Symbol.dispose]: () => load.secrets.dispose(),
  };
}

/** The state behind the values of a configuration. */
interface State {
  readonly declared: DeclaredConfig;
  readonly resolved: Resolved;
  /** Whether no module is being loaded, as in tests. */
  readonly isFree: boolean;
  /** The values that a test sets. */
  override: Readonly<Record<string, unknown>> | undefined;
}

const states = new WeakMap<object, State>();

/** Returns the state behind the values. @throws TypeError for anything that `config` has not returned. */
export function stateOf(settings: unknown): State {
  const state = typeof settings === "object" && settings !== null ? states.get(settings) : undefined;
  if (state === undefined) throw new TypeError("Cannot configure: expected what config(…) has returned");
  return state;
}

/**
 * Declares a module's configuration, and returns its values.
 *
 * They come from the environment (`apiToken` of `guestbook.ts` from `GUESTBOOK_API_TOKEN`), then from the files and
 * folders of `--module-config`, then from the schema's defaults. All faults of all modules are reported when the
 * process starts, and it does not run with any. A module is reloaded when its values change in a file or folder, and
 * the version before keeps running when the new values have a fault.
 *
 * Fields whose names end with `password`, `secret`, `token`, `credentials`, `apiKey` and the like are secret: their
 * values are not shown, and `manifests deploy` expects them in a Secret. `.meta({ sensitive: true })` makes any field
 * secret.
 *
 * Call it while the module loads, at the top of the file.
 *
 * @throws TypeError when it is called later, or with anything other than a zod object.
 * @example
 * export const settings = config(
 *   z.object({ replicas: z.coerce.number().int().default(2), apiToken: z.string() }),
 * );
 */
export function config<S extends z.ZodObject>(schema: S, options: ConfigOptions = {}): Config<S> {
  if (!(schema instanceof z.ZodObject)) {
    throw new TypeError("Cannot call config: expected z.object({ … }), with a field for each value");
  }
  const { name: ownName } = options;
  if (ownName !== undefined && !/^[A-Za-z0-9][-A-Za-z0-9]*$/.test(ownName)) {
    throw new TypeError(`Cannot call config: the name '${ownName}' is not made of letters, digits and '-'`);
  }
  const call = new Error("who calls config");
  const load = loadOf(call);
  const declared = declaredConfig(schema, ownName ?? load?.nameFor(filesInStack(call.stack ?? "")) ?? UNNAMED);
  if (variableOf(declared.name, [""]).startsWith("BINNACLE_")) {
    throw new TypeError(
      `Cannot call config: the variables of '${declared.name}' would be called BINNACLE_…, as those of flags are; ` +
        "give it another name: config(z.object({ … }), { name: … })",
    );
  }
  const resolved = resolveConfig(declared, load?.sources ?? NO_SOURCES);
  load?.configs.push({ ...declared, ...resolved, isNamed: ownName !== undefined });
  load?.secrets.use(keepSecret(resolved.secrets));
  const state: State = { declared, resolved, isFree: load === undefined, override: undefined };
  const settings = valuesOf(state);
  states.set(settings, state);
  return settings as Config<S>;
}

/** The name of a configuration in a test, where no module is loaded and nothing is read from outside. */
const UNNAMED = "module";

function loadOf(call: Error): ConfigLoad | undefined {
  const module = currentModule() ?? moduleInStack(call);
  const load = module === undefined ? undefined : loads.get(module);
  if (load?.hasEnded === true) {
    throw new TypeError("Cannot call config: the module has been loaded; call it at the top of the module's file");
  }
  return load;
}

/** Defines each property by a getter, so that a fault of one field is no fault of the others. */
function valuesOf(state: State): object {
  const settings: object = {};
  for (const property of Object.keys(state.declared.schema.shape)) {
    Object.defineProperty(settings, property, { enumerable: true, get: () => valueOf(state, property) });
  }
  for (const hidden of [LOGGED_AS, Symbol.for("nodejs.util.inspect.custom")]) {
    const printed =
      hidden === LOGGED_AS ? { get: () => printableValues(state) } : { value: () => printableValues(state) };
    Object.defineProperty(settings, hidden, { enumerable: false, ...printed });
  }
  return Object.freeze(settings);
}

function valueOf({ declared, resolved, isFree, override }: State, property: string): unknown {
  const values = override ?? resolved.values;
  if (values !== undefined) return values[property];
  const alone = resolveProperty(declared, resolved, property);
  if (alone !== undefined) return alone.value;
  if (isFree) {
    throw new Error(
      `Cannot read '${property}' of a configuration: nothing gives it a value here; in a test, call ` +
        `configure(settings, { ${property}: … }) of "binnacle/testing" first`,
    );
  }
  const { message } = resolved.faults.find(({ field }) => field === property || field?.startsWith(`${property}.`)) ?? {
    message: property,
  };
  throw new Error(`Cannot read the configuration of '${declared.name}': ${message}`);
}

/** Returns the values for logs, without secret ones. */
function printableValues({ declared, resolved, override }: State): object {
  const values = override ?? resolved.values;
  const printable: Record<string, unknown> = {};
  for (const property of Object.keys(declared.schema.shape)) {
    const isSecret = declared.fields.some(({ path, isSecret: hidden }) => hidden && path[0] === property);
    printable[property] = isSecret ? "[redacted]" : values?.[property];
  }
  return printable;
}
