/** Kubernetes' own e2e suite: what of it needs no process in a pod, no second node and no cloud. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { compiled, suitesCache } from "./go-module.ts";
import { runProgram } from "./suite-program.ts";
import { type Spec, specsOfReport } from "./spec.ts";

const source = join(import.meta.dirname, "e2e");

/** So many specs run at once: most of them wait. */
const PROCESSES = 6;

/** Regular expressions on the names of specs. */
export interface Filter {
  readonly focus: string;
  readonly skip?: string;
}

/**
 * What is recorded of the real control plane. The skipped specs need processes in pods, images, a second node, a cloud, or features that
 * are off by default.
 */
export const groups: Readonly<Record<string, Filter>> = {
  machinery: {
    focus: String.raw`\[sig-(api-machinery|auth|instrumentation)\].*\[Conformance\]`,
    skip: "AdmissionWebhook|CustomResourceConversionWebhook|Aggregator|should mount|OIDC|opting out",
  },
  more: {
    focus: String.raw`\[sig-(api-machinery)\]|\[sig-auth\] (SelfSubjectReview|ValidatingAdmissionPolicy|Certificates API|ServiceAccounts no secret)`,
    skip: [
      String.raw`\[Conformance\]|Disruptive|OffByDefault|Slow|StorageVersionAPI|APIServerIdentity|CBOR|Aggregated`,
      "drowned out|100 namespaces|Webhook|storage version with",
    ].join("|"),
  },
  others: {
    focus: `\\[sig-(network|node|storage|cli|scheduling)\\].*(${[
      "API operations|lifecycle of|status lifecycle|Endpoint lifecycle|ConfigMap lifecycle|collection of|Endpoints for Pods",
      "Endpoints and EndpointSlices|EndpointSlices for a Service|custom Endpoints resource|find a service|secure master|PodTemplates",
      "RuntimeClass|Secrets should patch|lease API|patch a pod status|Pods should be updated|Pods should be submitted",
      "activeDeadlineSeconds|Pod Generation|QOS Class|immutable|volumeattachment|pv/pvc|LimitRange|PriorityClass endpoints",
      "Kubectl (diff|server-side dry-run|version|cluster-info|expose|patch|run pod|label|api-versions|describe|replace)|CSIVolumeSource",
    ].join("|")}).*\\[Conformance\\]`,
    skip: "Variable Expansion|Pods should delete a collection|Container Lifecycle|Granular|Slow|Disruptive",
  },
  apps: {
    focus: String.raw`\[sig-apps\].*\[Conformance\]`,
    skip: [
      "webhook|not schedule|should replace jobs|schedule multiple jobs|adopt matching orphans|rolling updates and roll backs|canary",
      "Burst scaling|predictable order|basic identity|serve a basic image|failure policy|FailIndex|should delete a job|some failing",
      "sometimes fail|terminate job execution|proportional|Should recreate evicted|changes to a job status|indexes remain pending",
    ].join("|"),
  },
};

/** A fifth of the specs: the same ones wherever and whenever, because the name alone decides. */
export function fifth(names: readonly string[]): readonly string[] {
  return names.filter((name) => (createHash("sha256").update(name).digest()[0] ?? 0) % 5 === 0);
}

export interface E2eOptions extends Filter {
  readonly kubeconfig: string;
  /** The program. */
  readonly kubectl: string;
  /** Where the log and the report go. */
  readonly output: string;
  /** How both are called. */
  readonly name: string;
}

export interface E2ePrograms {
  readonly suite: string;
  /** Runs it in several processes. */
  readonly ginkgo: string;
}

/** Builds the suite where it has not been built. */
export async function e2ePrograms(): Promise<E2ePrograms> {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum", "e2e_test.go"]) hash.update(await readFile(join(source, file)));
  const bin = suitesCache(`e2e-${hash.digest("hex").slice(0, 12)}`);
  await mkdir(bin, { recursive: true });
  const ginkgo = await compiled(join(bin, "ginkgo"), {
    source,
    package: "github.com/onsi/ginkgo/v2/ginkgo",
    kind: "program",
  });
  return { suite: await compiled(join(bin, "e2e.test"), { source, package: "." }), ginkgo };
}

/** Runs the specs that a filter names against a cluster. */
export async function runE2e(
  { suite, ginkgo }: E2ePrograms,
  { focus, skip, kubeconfig, kubectl, output, name }: E2eOptions,
): Promise<readonly Spec[]> {
  await mkdir(output, { recursive: true });
  const report = join(output, `${name}.json`);
  await rm(report, { force: true });
  const own = [
    `--procs=${PROCESSES}`,
    "--no-color",
    `--focus=${focus}`,
    ...(skip ? [`--skip=${skip}`] : []),
    "--timeout=60m",
  ];
  const quiet = ["--poll-progress-after=0", "--output-interceptor-mode=none"];
  const reports = [`--json-report=${name}.json`, `--output-dir=${output}`];
  const cluster = ["--provider=skeleton", "--num-nodes=1", "--allowed-not-ready-nodes=-1", "--minStartupPods=0"];
  const reach = [`--kubeconfig=${kubeconfig}`, `--kubectl-path=${kubectl}`];
  const few = ["--dump-logs-on-failure=false", "--disable-log-dump"];
  const command = [ginkgo, ...own, ...quiet, ...reports, suite, "--", ...reach, ...cluster, ...few];
  await runProgram(command, { cwd: output, log: join(output, `${name}.log`) });
  return existsSync(report) ? specsOfReport(await readFile(report, "utf8")) : [];
}
