/** Jobs: how they count, retry, end and go. */
import type { Loose } from "../recorder.ts";
import { type Situation, type SituationOptions, situation as situationOf } from "../situation.ts";
import type { Stage, Until } from "../stage.ts";
import { every, hasCondition, template } from "../workloads.ts";

/** kube-controller-manager looks at pods once a second, and so counts many at once. */
function situation(name: string, run: (stage: Stage) => Promise<void>, options: SituationOptions = {}): Situation {
  return situationOf(name, run, { sequence: "conditions", ...options });
}

const exitCode = "pods.binnacle.dev/exit-code";
const exitsAfter = "pods.binnacle.dev/exits-after";

interface JobOptions {
  /** What the pods do. @default they end well at once */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly restartPolicy?: "Never" | "OnFailure";
}

function job(name: string, spec: Loose = {}, { annotations, restartPolicy = "Never" }: JobOptions = {}): Loose {
  const { metadata, spec: pod } = template(name, { ...(annotations && { annotations }), spec: { restartPolicy } });
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: { template: { metadata, spec: pod }, ...spec },
  };
}

const never: JobOptions = { annotations: { [exitsAfter]: "never" } };

function failing(code = "1"): JobOptions {
  return { annotations: { [exitCode]: code } };
}

function complete(name: string): Until {
  return hasCondition("Job", name, "Complete");
}

function failed(name: string, reason: string): Until {
  return hasCondition("Job", name, "Failed", reason);
}

/** So many ready pods. */
function running(name: string, count: number): Until {
  return (stage) => stage.find("Job", name)?.status?.ready === count && stage.pods(name).length === count;
}

function gone(stage: Stage): boolean {
  return stage.list("Job").length === 0 && stage.list("Pod").length === 0;
}

const rule = (action: string, values: readonly number[]) => ({ action, onExitCodes: { operator: "In", values } });

export const jobs: readonly Situation[] = [
  situation("job: completions one after the other", async (stage) => {
    await stage.apply(job("work", { completions: 4, parallelism: 2 }));
    await stage.settle("complete", complete("work"));
  }),
  situation("job: a work queue ends with its first success", async (stage) => {
    await stage.apply(job("work", { parallelism: 3 }));
    await stage.settle("complete", complete("work"));
  }),
  situation("job: without retries", async (stage) => {
    await stage.apply(job("work", { backoffLimit: 0 }, failing()));
    await stage.settle("failed", failed("work", "BackoffLimitExceeded"));
  }),
  situation("job: more failures at once than allowed", async (stage) => {
    await stage.apply(job("work", { completions: 3, parallelism: 3, backoffLimit: 1 }, failing()));
    await stage.settle("failed", failed("work", "BackoffLimitExceeded"));
  }),
  situation("job: a retry after ten seconds", async (stage) => {
    await stage.apply(job("work", { backoffLimit: 1 }, failing()));
    await stage.settle("failed", failed("work", "BackoffLimitExceeded"));
  }),
  situation("job: a container that is restarted until it ends well", async (stage) => {
    const annotations = { [exitCode]: "1,1,0", "pods.binnacle.dev/restarts-after": "100ms" };
    await stage.apply(job("work", {}, { annotations, restartPolicy: "OnFailure" }));
    await stage.settle("complete", complete("work"));
  }),
  situation(
    "job: a container that is restarted too often",
    async (stage) => {
      const annotations = { [exitCode]: "1", "pods.binnacle.dev/restarts-after": "100ms" };
      await stage.apply(job("work", { backoffLimit: 2 }, { annotations, restartPolicy: "OnFailure" }));
      await stage.settle("failed", failed("work", "BackoffLimitExceeded"));
    },
    { sequence: false },
  ),
  situation("job: indexed", async (stage) => {
    await stage.apply(job("work", { completionMode: "Indexed", completions: 5, parallelism: 2 }));
    await stage.settle("complete", complete("work"));
  }),
  situation("job: an index that fails for good", async (stage) => {
    const annotations = { [`index-1.${exitCode}`]: "1" };
    const spec = { completionMode: "Indexed", completions: 4, parallelism: 4, backoffLimitPerIndex: 0 };
    await stage.apply(job("work", spec, { annotations }));
    await stage.settle("failed", failed("work", "FailedIndexes"));
  }),
  situation(
    "job: an index that is tried again",
    async (stage) => {
      const annotations = { [`index-0.${exitCode}`]: "1" };
      const spec = { completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 1 };
      await stage.apply(job("work", spec, { annotations }));
      await stage.settle("failed", failed("work", "FailedIndexes"));
    },
    { sequence: false },
  ),
  situation("job: too many failed indexes", async (stage) => {
    const annotations = { [`index-0.${exitCode}`]: "1", [`index-1.${exitCode}`]: "1", [exitsAfter]: "never" };
    const quick = { [`index-0.${exitsAfter}`]: "0s", [`index-1.${exitsAfter}`]: "0s" };
    const limits = { backoffLimitPerIndex: 0, maxFailedIndexes: 1 };
    const spec = { completionMode: "Indexed", completions: 4, parallelism: 4, ...limits };
    await stage.apply(job("work", spec, { annotations: { ...annotations, ...quick } }));
    await stage.settle("failed", failed("work", "MaxFailedIndexesExceeded"));
  }),
  situation("job: an exit code that fails the whole", async (stage) => {
    const annotations = { [`index-2.${exitCode}`]: "42", [exitsAfter]: "never", [`index-2.${exitsAfter}`]: "300ms" };
    const podFailurePolicy = { rules: [rule("Ignore", [1]), rule("FailJob", [42])] };
    const spec = { completionMode: "Indexed", completions: 3, parallelism: 3, podFailurePolicy };
    await stage.apply(job("work", spec, { annotations }));
    await stage.settle("failed", failed("work", "PodFailurePolicy"));
  }),
  situation("job: an exit code that does not count", async (stage) => {
    const podFailurePolicy = { rules: [rule("Ignore", [7])] };
    await stage.apply(job("work", { backoffLimit: 0, podFailurePolicy }, failing("7")));
    await stage.settle("ignored", (now) => now.list("Pod").some(({ status }) => status?.phase === "Failed"), {
      quiet: 1500,
    });
  }),
  situation("job: an exit code that fails its index", async (stage) => {
    const annotations = { [`index-1.${exitCode}`]: "3" };
    const podFailurePolicy = { rules: [rule("FailIndex", [3])] };
    const limits = { backoffLimitPerIndex: 3, podFailurePolicy };
    const spec = { completionMode: "Indexed", completions: 3, parallelism: 3, ...limits };
    await stage.apply(job("work", spec, { annotations }));
    await stage.settle("failed", failed("work", "FailedIndexes"));
  }),
  situation("job: an exit code that counts", async (stage) => {
    const podFailurePolicy = { rules: [rule("Count", [1]), rule("Ignore", [1, 2])] };
    await stage.apply(job("work", { backoffLimit: 0, podFailurePolicy }, failing()));
    await stage.settle("failed", failed("work", "BackoffLimitExceeded"));
  }),
  situation("job: suspended from the start, then resumed", async (stage) => {
    await stage.apply(job("work", { suspend: true }));
    await stage.settle("suspended", hasCondition("Job", "work", "Suspended", "JobSuspended"));
    await stage.patch("Job", "work", { spec: { suspend: false } });
    await stage.settle("complete", complete("work"));
  }),
  situation("job: suspended while it runs", async (stage) => {
    await stage.apply(job("work", { completions: 2, parallelism: 2 }, never));
    await stage.settle("running", running("work", 2));
    await stage.patch("Job", "work", { spec: { suspend: true } });
    const isSuspended = hasCondition("Job", "work", "Suspended", "JobSuspended");
    await stage.settle("suspended", every(isSuspended, running("work", 0)), { quiet: 1500 });
    await stage.patch("Job", "work", { spec: { suspend: false } });
    await stage.settle("resumed", running("work", 2));
  }),
  situation("job: a deadline", async (stage) => {
    await stage.apply(job("work", { activeDeadlineSeconds: 2, parallelism: 2, completions: 2 }, never));
    await stage.settle("failed", failed("work", "DeadlineExceeded"));
  }),
  situation("job: gone some time after its end", async (stage) => {
    await stage.apply(job("work", { ttlSecondsAfterFinished: 1, completions: 2, parallelism: 2 }));
    await stage.settle("gone", gone);
  }),
  situation("job: one index is enough", async (stage) => {
    const annotations = { [exitsAfter]: "never", [`index-0.${exitsAfter}`]: "300ms" };
    const successPolicy = { rules: [{ succeededIndexes: "0", succeededCount: 1 }] };
    const spec = { completionMode: "Indexed", completions: 3, parallelism: 3, successPolicy };
    await stage.apply(job("work", spec, { annotations }));
    await stage.settle("complete", hasCondition("Job", "work", "Complete", "SuccessPolicy"));
  }),
  situation("job: any two indexes are enough", async (stage) => {
    const quick = { [`index-1.${exitsAfter}`]: "300ms", [`index-3.${exitsAfter}`]: "300ms" };
    const successPolicy = { rules: [{ succeededCount: 2 }] };
    const spec = { completionMode: "Indexed", completions: 4, parallelism: 4, successPolicy };
    await stage.apply(job("work", spec, { annotations: { [exitsAfter]: "never", ...quick } }));
    await stage.settle("complete", hasCondition("Job", "work", "Complete", "SuccessPolicy"));
  }),
  situation("job: a pod is replaced once it has ended", async (stage) => {
    const annotations = { [exitsAfter]: "never", "pods.binnacle.dev/stops-after": "2s" };
    const spec = { completions: 3, parallelism: 2, podReplacementPolicy: "Failed" };
    await stage.apply(job("work", spec, { annotations }));
    await stage.settle("running", running("work", 2));
    const [pod] = stage.pods("work");
    await stage.delete("Pod", pod.metadata.name);
    await stage.until("terminating", (now) => now.find("Job", "work")?.status?.terminating === 1);
    const isCounted: Until = (now) => now.find("Job", "work")?.status?.succeeded === 1;
    await stage.settle("it ended well, and there is another", every(isCounted, running("work", 2)), { quiet: 1500 });
  }),
  situation("job: a pod that is deleted has failed", async (stage) => {
    const annotations = { [exitsAfter]: "never", "pods.binnacle.dev/stops-after": "3s" };
    await stage.apply(job("work", { completions: 2, parallelism: 2, backoffLimit: 0 }, { annotations }));
    await stage.settle("running", running("work", 2));
    const [pod] = stage.pods("work");
    await stage.delete("Pod", pod.metadata.name);
    await stage.settle("failed", failed("work", "BackoffLimitExceeded"));
  }),
  situation("job: parallelism up and down", async (stage) => {
    await stage.apply(job("work", { completions: 6, parallelism: 2 }, never));
    await stage.settle("two", running("work", 2));
    await stage.patch("Job", "work", { spec: { parallelism: 4 } });
    await stage.settle("four", running("work", 4));
    await stage.patch("Job", "work", { spec: { parallelism: 1 } });
    await stage.settle("one", running("work", 1), { quiet: 1500 });
  }),
  situation("job: more indexes", async (stage) => {
    await stage.apply(job("work", { completionMode: "Indexed", completions: 2, parallelism: 2 }, never));
    await stage.settle("two", running("work", 2));
    await stage.patch("Job", "work", { spec: { completions: 4, parallelism: 4 } });
    await stage.settle("four", running("work", 4));
  }),
  situation("job: somebody else's", async (stage) => {
    await stage.apply(job("work", { managedBy: "example.com/other" }));
    await stage.settle("untouched", () => true, { quiet: 1500 });
  }),
  situation("job: adopts a pod", async (stage) => {
    const { metadata, spec } = template("work", {
      annotations: { [exitsAfter]: "never" },
      spec: { restartPolicy: "Never" },
    });
    await stage.apply({ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "orphan" }, spec });
    await stage.settle("orphan", (now) => now.find("Pod", "orphan")?.status?.phase === "Running");
    const selector = { matchLabels: { app: "work" } };
    await stage.apply(job("work", { manualSelector: true, selector, completions: 2, parallelism: 2 }, never));
    await stage.settle("adopted", running("work", 2));
  }),
  situation("job: deleted in the foreground while it runs", async (stage) => {
    await stage.apply(job("work", { completions: 2, parallelism: 2 }, never));
    await stage.settle("running", running("work", 2));
    await stage.delete("Job", "work", { propagation: "Foreground" });
    await stage.settle("gone", gone);
  }),
  situation("job: deleted in the background while it runs", async (stage) => {
    await stage.apply(job("work", { completions: 2, parallelism: 2 }, never));
    await stage.settle("running", running("work", 2));
    await stage.delete("Job", "work", { propagation: "Background" });
    await stage.settle("gone", gone);
  }),
  situation("job: its pods are orphaned", async (stage) => {
    await stage.apply(job("work", { completions: 2, parallelism: 2 }, never));
    await stage.settle("running", running("work", 2));
    await stage.delete("Job", "work", { propagation: "Orphan" });
    const isFree = ({ metadata }: Loose) => !metadata.ownerReferences && !metadata.finalizers;
    await stage.settle("orphans", (now) => now.list("Job").length === 0 && now.list("Pod").every(isFree));
  }),
];
