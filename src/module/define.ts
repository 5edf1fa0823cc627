/** The functions with which an author defines controllers and plugins: they check definitions, which stay inert. */
import { type AnyObjectController, type KeyController, type ObjectController } from "../controller/definition.ts";
import { kindWatch, type Target } from "../controller/watch.ts";
import type { MetricDeclaration } from "../observe/author-metric.ts";
import type { Shape } from "../resource/handle.ts";
import { isFields } from "../resource/json.ts";
import { branded } from "./brand.ts";
import type { Definition } from "./definition.ts";
import type { Plugin } from "./plugin.ts";
import * as check from "./option-checks.ts";

/** The number of attempts. */
const attempts: check.Check = (value) => (value === Infinity ? undefined : check.wholeNumber(1)(value));

const callbackOr =
  (other: check.Check): check.Check =>
  (value) =>
    typeof value === "function" ? undefined : other(value);

const retry: check.OptionTable = {
  first: check.duration,
  max: check.duration,
  limit: attempts,
  limiter: check.callback,
  tellAfter: attempts,
  condition: check.booleanOrCondition,
};

const metric: check.Check = (value) => {
  const { type } = Object(value) as { readonly type?: unknown };
  if (type === "counter" || type === "gauge" || type === "histogram") return undefined;
  return `expected { type: "counter", "gauge" or "histogram", name, help }, got ${JSON.stringify(value) ?? String(value)}`;
};

const common: check.OptionTable = {
  concurrency: check.wholeNumber(1),
  timeout: check.duration,
  retry: check.objectOf(retry),
  minInterval: check.duration,
  debounce: check.duration,
  onReload: check.oneOf(["reconcile-all", "resume"]),
  syncTimeout: check.duration,
  reconcileOwnWrites: check.boolean,
  watches: check.listOf(check.mappedWatch),
  reads: check.listOf(check.target),
  uses: check.listOf(check.permission),
  metrics: check.namedRecordOf(metric),
  reconcile: check.required(check.callback),
};

const shardLabel = check.objectOf({
  label: check.required(check.labelKey),
  values: check.required(check.labelValues),
});

const shardBy: check.Check = (value) => {
  if (value === "uid" || value === "namespace") return undefined;
  return isFields(value)
    ? shardLabel(value)
    : `expected 'uid', 'namespace' or { label, values }, got ${JSON.stringify(value) ?? String(value)}`;
};

const shardKeyBy: check.Check = (value) =>
  value === "key" || value === "namespace"
    ? undefined
    : `expected 'key' or 'namespace', got ${JSON.stringify(value) ?? String(value)}`;

const daemon: check.OptionTable = {
  run: check.required(check.callback),
  value: check.schema,
  when: check.callback,
  restartOn: check.callback,
  concurrency: check.wholeNumber(1),
  retry: check.objectOf({ first: check.duration, max: check.duration }),
};

const objectOptions: check.OptionTable = {
  name: check.name,
  for: check.required(check.wholeTarget),
  owns: check.listOf(check.wholeTarget),
  formerly: check.listOf(check.name),
  finalize: check.callback,
  shardBy,
  every: callbackOr(check.duration),
  daemons: check.namedRecordOf(callbackOr(check.objectOf(daemon))),
  ...common,
};

const keyOptions: check.OptionTable = {
  name: check.required(check.name),
  shardBy: shardKeyBy,
  ...common,
};

const service: check.Check = (value) =>
  typeof value === "object" && value !== null && "name" in value ? undefined : 'expected service("<plugin>/<name>")';

const pluginOptions: check.OptionTable = {
  name: check.required(check.name),
  setup: check.required(check.callback),
  requires: check.listOf(check.name),
  provides: check.listOf(service),
  reads: check.listOf(check.target),
  uses: check.listOf(check.permission),
};

/**
 * Defines a controller of one kind of object: `reconcile` is called for an object that is not being deleted, `finalize`
 * for one that is.
 *
 * @throws TypeError that names a wrong option and its value.
 * @example
 * export const guestbook = defineController({
 *   for: Guestbook,
 *   owns: [Deployment],
 *   async reconcile(guestbook, { children, status }) { … },
 * });
 * @see https://kubernetes.io/docs/concepts/architecture/controller/
 */
export function defineController<
  S extends Shape,
  const Owns extends readonly Target<Shape>[] = readonly [],
  Values = {},
  const Metrics extends Readonly<Record<string, MetricDeclaration>> = {},
>(controller: ObjectController<S, Owns, Values, Metrics>): Definition {
  const subject = check.checkOptions(controller, {
    call: "defineController",
    what: "controller",
    table: objectOptions,
    advice: { for: "name the kind it reconciles, or use defineKeyController for keys without an object" },
  });
  if (controller.shardBy === "namespace" && kindWatch(controller.for).resource.scope === "Cluster") {
    const { kind } = kindWatch(controller.for).resource;
    throw new TypeError(
      `Cannot define ${subject}: option 'shardBy': ${kind} has no namespaces; leave it out, or use a label`,
    );
  }
  return branded({
    type: "controller",
    controller: Object.freeze({ ...controller }) as unknown as AnyObjectController,
  });
}

/**
 * Defines a controller of keys without an object of their own: it has no status, no children and no finalizer.
 *
 * @throws TypeError that names a wrong option and its value.
 */
export function defineKeyController<const Metrics extends Readonly<Record<string, MetricDeclaration>> = {}>(
  controller: KeyController<Metrics>,
): Definition {
  const needsObject = "it needs an object: use defineController";
  check.checkOptions(controller, {
    call: "defineKeyController",
    what: "key controller",
    table: keyOptions,
    advice: {
      for: needsObject,
      owns: needsObject,
      finalize: needsObject,
      formerly: needsObject,
      daemons: needsObject,
      every: "it is for objects: use source.every(…) in 'watches'",
    },
  });
  return branded({ type: "key-controller", controller: Object.freeze({ ...controller }) as unknown as KeyController });
}

/**
 * Defines a plugin: `setup` is called when the module is added, and what it registered is removed with the module.
 *
 * @throws TypeError that names a wrong option and its value.
 */
export function definePlugin(plugin: Plugin): Definition {
  const subject = check.checkOptions(plugin, { call: "definePlugin", what: "plugin", table: pluginOptions });
  const other = plugin.provides?.find(({ name }) => !name.startsWith(`${plugin.name}/`))?.name;
  if (other !== undefined) {
    throw new TypeError(
      `Cannot define ${subject}: option 'provides': '${other}' is a service of plugin '${other.split("/")[0]}'`,
    );
  }
  return branded({ type: "plugin", plugin: Object.freeze({ ...plugin }) });
}
