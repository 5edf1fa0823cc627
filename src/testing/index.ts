/**
 * The test kit for users' controllers, which tests import as `"binnacle/testing"`.
 *
 * A test starts a cluster of its own, runs a module on it, writes objects and checks the effects. Nothing needs to be
 * mocked: the cluster has the API server, its validation, server-side apply, the garbage collector, deployments and
 * pods. The same test runs against a real kube-apiserver with `server: "real"`.
 *
 * @example
 * import { expect, test } from "bun:test";
 * import { eventually, matchers, runModule, startCluster } from "binnacle/testing";
 * import { Greeting, greeting } from "./greeting.ts";
 *
 * expect.extend(matchers);
 *
 * test("greets", async () => {
 *   await using cluster = await startCluster();
 *   await using _ = await runModule(greeting, cluster);
 *   const key = { namespace: "default", name: "first" };
 *   await cluster.client.create(Greeting, { metadata: key, spec: { to: "world" } });
 *   await eventually(async () => expect(await cluster.client.get(Greeting, key)).toHaveCondition("Ready"));
 * });
 *
 * @module
 */
export { startCluster } from "./start-cluster.ts";
export { runModule } from "./run-module.ts";
export { configure } from "./configure.ts";
export { admit } from "./admit.ts";
export { eventually } from "./eventually.ts";
export { childrenOf, conditionOf, matchers } from "./matchers.ts";
export { FakeClock } from "./fake-clock.ts";
export { conversionLosses, convert } from "./conversions/convert.ts";

export type { StartClusterOptions, TestCluster } from "./start-cluster.ts";
export type { Admission, AdmitOptions, AdmittedInput } from "./admit.ts";
export type { RunModuleOptions } from "./run-module.ts";
export type { LogLine, RunningModule } from "./running-module.ts";
export type { EventuallyOptions } from "./eventually.ts";
export type { ExpectedCondition } from "./matchers.ts";
export type { ConvertedTo, UntypedVersion, VersionedObject } from "./conversions/convert.ts";
export type { ConversionLoss, ConversionLossesOptions } from "./conversions/conversion-losses.ts";
export type { LossReason } from "./conversions/round-trip.ts";
export type { ActiveFault, FaultOptions, Faults, RefuseOptions } from "./faults.ts";
export type { RequestTarget, RequestVerb } from "./request-target.ts";
export type { ContainerScript, ContainerStart, PodBehaviour } from "../cluster/index.ts";
