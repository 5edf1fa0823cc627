/**
 * The SDK: what a module imports as `"binnacle"`.
 *
 * binnacle runs Kubernetes controllers that are plain TypeScript files. A **module** is one `.ts` or `.js` file, or a
 * folder with an `index.ts`, directly inside the controllers folder. The binary loads each module and registers every
 * **definition** it exports, named or default, alone or in an array. Definitions are inert: importing a module starts
 * nothing, so `binnacle check` and `binnacle manifests` work without a cluster.
 *
 * **Kinds.** Kinds of Kubernetes itself come from `"binnacle/resources"`. {@link defineResource} makes a kind of your
 * own from a zod schema: types, defaults and the CustomResourceDefinition follow from that one value; `"binnacle/schemas"`
 * has those of built-in types, such as `podTemplateSpec()`.
 * {@link foreignResource} names a kind that others define, typed by a schema or a type, and installs nothing;
 * {@link resource} names any kind by `apiVersion` and `kind`, untyped. Objects are what the API server answers: wire names, times
 * as strings, read-only, because they are shared with everybody who reads the same cache. {@link edit} makes a changed
 * copy, {@link of} a new object of a kind.
 *
 * **Controllers.** {@link defineController} reconciles one kind: `reconcile(object, context)` is called with the state
 * of an object and makes the world match it. It is called after a change of the object, of its children (`owns`), of
 * whatever `watches` maps to it, and again after a failure with a growing delay. It is level-based: it is told the
 * state, not what happened, and several changes may arrive as one call. Never two calls for one object at a time.
 * {@link defineKeyController} does the same for keys that have no object. What a run writes by hand with `client` makes
 * its own key run once more, so that a controller may go one step per run; what the runtime writes for it (children,
 * status, finalizers) does not.
 *
 * **Which objects, which events.** {@link watch} narrows a kind: `namespaces` (a list, or `{ labels }` for those that
 * come and go), `labels` and `fields` on the server, `select: "metadata"` and `keep` to what is needed of each object;
 * `match` decides membership, `on` filters events of members with {@link changed}, {@link all}, {@link any} and
 * {@link none}. {@link source} adds intervals, cron expressions and async iterables.
 *
 * **Configuration.** {@link config} says which values a module takes from outside, with a zod schema: from the environment,
 * from files, from mounted ConfigMaps and Secrets. They are typed, checked before anything starts, and a module is
 * reloaded when they change.
 *
 * **Children.** `context.children.sync({ name: desired, … })` states the whole set of an object's children. What is
 * missing is created, what differs is brought back, what is no longer named is deleted, and what others added stays. An
 * object that is not ours is never taken over silently.
 *
 * **Status.** `context.status.set` and `context.status.condition` collect what the run found; it is written once, at the
 * end of the run, also when the run throws, and not at all when nothing differs.
 *
 * **Deletion.** A `finalize` function adds a finalizer before the first reconcile. An object that is being deleted is
 * only ever passed to `finalize`; when that succeeds, the finalizer goes and so does the object.
 *
 * **Reading and writing.** `context.client` reads kinds the controller declares from shared caches and everything else
 * from the server. A read after a write of this process sees at least that write.
 *
 * **Time.** `context.now()` and `context.sleep("30s")` go by the controller's clock, which a test may move.
 * `context.signal` fires as soon as the run should end; what must not be cut off when its module leaves asks for the grace
 * period with `context.mustFinish`.
 *
 * **Errors.** Throwing retries with back-off. {@link RetryError} retries after a given time. {@link TerminalError} parks
 * the key until something about it changes. {@link ApiError} carries the server's answer; ask it with
 * {@link isNotFound}, {@link isConflict} and the others.
 *
 * **Permissions.** `binnacle manifests rbac` writes exactly what the declarations need; {@link allow} declares calls
 * that no declaration shows.
 *
 * **Beside objects.** `daemons` of a controller go on beside each object, such as a connection to what it stands for, and queue
 * its key; `every` runs each object again after an interval of its own.
 *
 * **Plugins.** {@link definePlugin} adds services for the code of all modules, routes, checks, metrics with labels, long-running work with a client of its own, hooks
 * around the runs of all controllers, transforms of cached objects, sources that other modules name, and further definitions. All
 * of it leaves when the module does.
 *
 * **Tests.** `"binnacle/testing"` starts a cluster of its own for a test, runs a module on it and breaks what is between
 * the two; `binnacle test` runs such tests with nothing but the binary.
 *
 * @example
 * import { defineController, of } from "binnacle";
 * import { ConfigMap, Namespace } from "binnacle/resources";
 *
 * export const welcome = defineController({
 *   name: "welcome",
 *   for: Namespace,
 *   async reconcile(namespace, { client, log }) {
 *     const key = { namespace: namespace.metadata.name, name: "welcome" };
 *     await client.apply(ConfigMap, { metadata: key, data: { hello: namespace.metadata.name } });
 *     log.info("welcomed");
 *   },
 * });
 *
 * @module
 */
export { defineController, defineKeyController, definePlugin } from "./module/define.ts";
export { config } from "./module/config/config.ts";
export { defineWebhook } from "./module/define-webhook.ts";
export { Denied } from "./webhook/denied.ts";
export { defineResource } from "./resource/define.ts";
export { conditions } from "./resource/conditions.ts";
export { foreignResource } from "./resource/foreign.ts";
export { of, resource } from "./resource/handle.ts";
export { edit } from "./resource/edit.ts";
export { watch } from "./controller/watch.ts";
export { source } from "./controller/source.ts";
export { all, any, changed, none } from "./controller/predicate.ts";
export { defineIndex } from "./client/field-index.ts";
export { allow } from "./controller/definition.ts";
export { service } from "./reconcile/services.ts";
export { controllerReference } from "./reconcile/owner.ts";
export { AlreadyOwned, NotOwned, RetryError, TerminalError, TryElsewhere } from "./reconcile/errors.ts";
export {
  ApiError,
  isAlreadyExists,
  isApiError,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
  isUnreachable,
} from "./kube/errors/api-error.ts";
export { z } from "zod";

export type { ForeignTypes } from "./resource/foreign.ts";
export type { Config, ConfigOptions } from "./module/config/config.ts";
export type { Definition } from "./module/definition.ts";
export type { WebhookDefinition } from "./module/define-webhook.ts";
export type { DeniedOptions } from "./webhook/denied.ts";
export type { AdmissionRequest, Operation, UserInfo } from "./webhook/admission-review.ts";
export type {
  AdmissionContext,
  AdmissionRule,
  Admitted,
  MatchCondition,
  WebhookOptions,
} from "./webhook/definition.ts";
export type { AroundHook, FailurePolicy, HookedRun, RunOutcome } from "./controller/around-hook.ts";
export type {
  AroundOptions,
  Check,
  Plugin,
  PluginMetric,
  PluginSource,
  Registry,
  Runnable,
  RunnableContext,
  RouteOptions,
  RunnableOptions,
  Transformed,
} from "./module/plugin.ts";
export type {
  ObjectOf,
  Desired,
  MetadataOf,
  MetadataShape,
  OneOf,
  Resource,
  Scope,
  Shape,
  SpecOf,
  StatusOf,
} from "./resource/handle.ts";
export type {
  Condition,
  DeepReadonly,
  Draft,
  Key,
  MetaInput,
  NamespacedMeta,
  ObjectMeta,
  OwnerReference,
} from "./resource/meta.ts";
export type { Duration } from "./resource/duration.ts";
export type { Enqueued, MappedWatch, MapOptions, Target, Watch, WatchOptions } from "./controller/watch.ts";
export type { Change, Predicate } from "./controller/predicate.ts";
export type { Daemon, DaemonFunction, DaemonOptions } from "./controller/daemon.ts";
export type {
  KeyController,
  Narrowed,
  ObjectController,
  Permission,
  Retry,
  ShardBy,
  ShardLabel,
  Verb,
} from "./controller/definition.ts";
export type {
  ApplyOptions,
  CallOptions,
  Client,
  ClientOptions,
  DeleteOptions,
  JsonPatchOperation,
  KeyOf,
  ListOptions,
  LiveReader,
  ExecOptions,
  Execution,
  LogOptions,
  Patch,
  Reader,
  ScaleSubresource,
  Subresource,
  WatchEvent,
  WriteOptions,
} from "./client/client.ts";
export type { Index, IndexQuery } from "./client/field-index.ts";
export type {
  Cause,
  CauseOf,
  Children,
  DaemonContext,
  Logger,
  ObjectContext,
  OnForeign,
  Result,
  RunContext,
  RunEvents,
  SkippedChild,
  StatusWriter,
  SyncOptions,
} from "./reconcile/context.ts";
export type {
  Counter,
  Gauge,
  Histogram,
  MetricDeclaration,
  MetricOptions,
  WrittenMetrics,
} from "./observe/author-metric.ts";
export type { Service, UseService } from "./reconcile/services.ts";
export type { Status } from "./kube/errors/api-error.ts";
