/** The functions with which an author defines what runs: they check definitions, which stay inert. */
import {
  allowedVerbs,
  type AnyObjectController,
  type KeyController,
  type ObjectController,
  type Permission,
} from "../controller/definition.ts";
import { kindWatch, type Target } from "../controller/watch.ts";
import type { MetricDeclaration } from "../observe/author-metric.ts";
import type { Shape } from "../resource/handle.ts";
import { branded } from "./brand.ts";
import type { Definition } from "./definition.ts";
import type { Plugin } from "./plugin.ts";
import * as is from "./option-table.ts";

/** Checks an entry of `uses`. */
export const permission = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null || !Array.isArray(allowedVerbs(value as Permission).verbs)) {
    return 'expected allow(kind, "verb", …)';
  }
  const { resource, verbs, names } = allowedVerbs(value as Permission);
  const unnamed = names && verbs.find((verb) => /^(create|deletecollection)$/.test(verb));
  if (names?.length === 0) return `allow(${resource.kind}, …) has no names: leave them out, or name one`;
  if (unnamed !== undefined) {
    return `allow(${resource.kind}, "${unnamed}", { names }): RBAC cannot narrow it to names, because such a request has none`;
  }
  const isRole = resource.group === "rbac.authorization.k8s.io" && /^(Cluster)?Role$/.test(resource.kind);
  const misplaced = isRole ? undefined : verbs.find((verb) => verb === "bind" || verb === "escalate");
  return (
    misplaced && `allow(${resource.kind}, "${misplaced}"): only a Role or a ClusterRole can be bound and escalated`
  );
};

const retry: readonly is.Option[] = [
  { name: "first", check: is.isDuration },
  { name: "max", check: is.isDuration },
  { name: "limit", check: (value) => (value === Infinity ? undefined : is.isWholeNumber(1)(value)) },
  { name: "limiter", check: is.isFunction },
  { name: "tellAfter", check: (value) => (value === Infinity ? undefined : is.isWholeNumber(1)(value)) },
  { name: "condition", check: is.isBooleanOrCondition },
];

const metric = (value: unknown): string | undefined => {
  const { type } = Object(value) as { readonly type?: unknown };
  if (type === "counter" || type === "gauge" || type === "histogram") return undefined;
  return `expected { type: "counter", "gauge" or "histogram", name, help }, got ${JSON.stringify(value) ?? String(value)}`;
};

const common: readonly is.Option[] = [
  { name: "concurrency", check: is.isWholeNumber(1) },
  { name: "timeout", check: is.isDuration },
  { name: "retry", check: is.isObjectOf(retry) },
  { name: "minInterval", check: is.isDuration },
  { name: "debounce", check: is.isDuration },
  { name: "onReload", check: is.isOneOf(["reconcile-all", "resume"]) },
  { name: "syncTimeout", check: is.isDuration },
  { name: "reconcileOwnWrites", check: is.isBoolean },
  { name: "watches", check: is.isListOf(is.isMappedWatch) },
  { name: "reads", check: is.isListOf(is.isTarget) },
  { name: "uses", check: is.isListOf(permission) },
  { name: "metrics", check: is.isRecordOf(metric) },
  { name: "reconcile", required: true, check: is.isFunction },
];

const shardLabel: readonly is.Option[] = [
  { name: "label", required: true, check: is.isLabelKey },
  { name: "values", required: true, check: is.isLabelValues },
];

const shardBy = (value: unknown): string | undefined => {
  if (value === "uid" || value === "namespace") return undefined;
  if (typeof value !== "object" || value === null) {
    return `expected 'uid', 'namespace' or { label, values }, got ${JSON.stringify(value) ?? String(value)}`;
  }
  const missing = shardLabel.find(({ name }) => (value as Readonly<Record<string, unknown>>)[name] === undefined);
  return missing === undefined ? is.isObjectOf(shardLabel)(value) : `field '${missing.name}' is missing`;
};

const shardKeyBy = (value: unknown): string | undefined =>
  value === "key" || value === "namespace"
    ? undefined
    : `expected 'key' or 'namespace', got ${JSON.stringify(value) ?? String(value)}`;

const daemon: readonly is.Option[] = [
  { name: "run", required: true, check: is.isFunction },
  { name: "value", check: is.isSchema },
  { name: "when", check: is.isFunction },
  { name: "restartOn", check: is.isFunction },
  { name: "concurrency", check: is.isWholeNumber(1) },
  {
    name: "retry",
    check: is.isObjectOf([
      { name: "first", check: is.isDuration },
      { name: "max", check: is.isDuration },
    ]),
  },
];

const isDaemon = (value: unknown): string | undefined =>
  typeof value === "function" ? undefined : is.isObjectOf(daemon)(value);

const every = (value: unknown): string | undefined => (typeof value === "function" ? undefined : is.isDuration(value));

const objectOptions: readonly is.Option[] = [
  { name: "name", check: is.isName },
  { name: "for", required: true, check: is.isWholeTarget },
  { name: "owns", check: is.isListOf(is.isWholeTarget) },
  { name: "formerly", check: is.isListOf(is.isName) },
  { name: "finalize", check: is.isFunction },
  { name: "shardBy", check: shardBy },
  { name: "every", check: every },
  { name: "daemons", check: is.isRecordOf(isDaemon) },
  ...common,
];

const keyOptions: readonly is.Option[] = [
  { name: "name", required: true, check: is.isName },
  { name: "shardBy", check: shardKeyBy },
  ...common,
];

const isService = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && "name" in value ? undefined : 'expected service("<plugin>/<name>")';

const pluginOptions: readonly is.Option[] = [
  { name: "name", required: true, check: is.isName },
  { name: "setup", required: true, check: is.isFunction },
  { name: "requires", check: is.isListOf(is.isName) },
  { name: "provides", check: is.isListOf(isService) },
  { name: "reads", check: is.isListOf(is.isTarget) },
  { name: "uses", check: is.isListOf(permission) },
];

/** Names a definition in a message, before it is known to be valid. */
export function subject(what: string, options: { readonly name?: unknown; readonly for?: unknown }): string {
  if (typeof options.name === "string") return `${what} '${options.name}'`;
  if (typeof options.for === "object" && options.for !== null) {
    const kind = kindWatch(options.for as Target<Shape>).resource?.kind;
    if (typeof kind === "string") return `${what} '${kind.toLowerCase()}'`;
  }
  return `a ${what}`;
}

/** Requires an object. @throws TypeError naming the function that was called with something else. */
export function mustBeObject(options: unknown, call: string): asserts options is object {
  if (typeof options !== "object" || options === null)
    throw new TypeError(`Cannot call ${call}: expected an object of options`);
}

/**
 * Defines a controller of one kind of object: `reconcile` is called for an existing object that is not being deleted,
 * `finalize` for one that is.
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
  mustBeObject(controller, "defineController");
  is.checkOptions(controller, {
    subject: subject("controller", controller),
    table: objectOptions,
    advice: { for: "name the kind it reconciles, or use defineKeyController for keys without an object" },
  });
  if (controller.shardBy === "namespace" && kindWatch(controller.for).resource.scope === "Cluster") {
    const { kind } = kindWatch(controller.for).resource;
    throw new TypeError(
      `Cannot define ${subject("controller", controller)}: option 'shardBy': ${kind} has no namespaces; leave it out, or use a label`,
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
  mustBeObject(controller, "defineKeyController");
  const needsObject = "it needs an object: use defineController";
  is.checkOptions(controller, {
    subject: subject("key controller", controller),
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
  mustBeObject(plugin, "definePlugin");
  is.checkOptions(plugin, { subject: subject("plugin", plugin), table: pluginOptions });
  const other = plugin.provides?.find(({ name }) => !name.startsWith(`${plugin.name}/`))?.name;
  if (other !== undefined) {
    throw new TypeError(
      `Cannot define plugin '${plugin.name}': option 'provides': '${other}' is a service of plugin '${other.split("/")[0]}'`,
    );
  }
  return branded({ type: "plugin", plugin: Object.freeze({ ...plugin }) });
}
