import { describe, expect, test } from "bun:test";
import type { Container, Pod } from "../../resource/builtin/index.ts";
import { PodMemory } from "./pod-memory.ts";
import type { PodBehaviour } from "./pod-behaviour.ts";
import { nextPodStep, type PodStep, stopsAfter } from "./pod-run.ts";

/** A pod and its kubelet, with a clock that the test turns. */
class Subject {
  readonly #memory = new PodMemory();
  readonly #behaviour: PodBehaviour | undefined;
  #pod: Pod;
  #now = Date.parse("2026-01-01T00:00:00Z");

  constructor(
    spec: Partial<Pod["spec"]> = {},
    options: { annotations?: Record<string, string>; behaviour?: PodBehaviour } = {},
  ) {
    const metadata = {
      name: "web",
      namespace: "default",
      uid: "u",
      resourceVersion: "1",
      creationTimestamp: "",
      annotations: options.annotations ?? {},
    };
    const containers = [container("main")];
    this.#pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers, restartPolicy: "Always", ...spec } };
    this.#behaviour = options.behaviour;
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** Lets time pass and looks once. */
  after(ms: number): PodStep {
    this.#now += ms;
    const times = this.#memory.of("default/web", "u");
    const context = {
      behaviour: this.#behaviour,
      times,
      now: this.#now,
      hostIP: "1.2.3.4",
      newPodIP: () => "10.244.0.1",
    };
    const step = nextPodStep({ ...context, pod: this.#pod });
    this.#pod = { ...this.#pod, status: { ...this.#pod.status, ...step.status } };
    return step;
  }

  annotate(annotations: Record<string, string>): void {
    const { metadata } = this.#pod;
    this.#pod = { ...this.#pod, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } };
  }

  condition(type: string): string {
    const { status, reason } = this.#pod.status?.conditions?.find((one) => one.type === type) ?? {};
    return `${status} ${reason ?? ""}`.trim();
  }

  state(name = "main"): string {
    const { initContainerStatuses = [], containerStatuses = [] } = this.#pod.status ?? {};
    const found = [...initContainerStatuses, ...containerStatuses].find((one) => one.name === name);
    const { running, waiting, terminated } = found?.state ?? {};
    if (running !== undefined) return found?.ready === true ? "ready" : "running";
    return waiting?.reason ?? `${terminated?.reason} ${terminated?.exitCode}`;
  }
}

function container(name: string, more: Partial<Container> = {}): Container {
  return { name, image: `${name}:1`, ...more };
}

const said = (name: string, value: string): { annotations: Record<string, string> } => ({
  annotations: { [`pods.binnacle.dev/${name}`]: value },
});

describe("nextPodStep", () => {
  test("is Running and Ready at once, and rests", () => {
    const subject = new Subject();
    const { status, again } = subject.after(0);
    expect(again).toBeUndefined();
    expect(status.phase).toBe("Running");
    expect(status).toMatchObject({ podIP: "10.244.0.1", hostIP: "1.2.3.4", startTime: "2026-01-01T00:00:00Z" });
    expect([subject.state(), subject.condition("Ready"), subject.condition("Initialized")]).toEqual([
      "ready",
      "True",
      "True",
    ]);
  });

  test("becomes ready when it is said to", () => {
    const subject = new Subject({}, said("ready-after", "2s"));
    expect(subject.after(0).again).toBe(2_000);
    expect(subject.condition("Ready")).toBe("False ContainersNotReady");
    expect(subject.after(1_500).again).toBe(500);
    expect(subject.after(500).again).toBeUndefined();
    expect(subject.condition("Ready")).toBe("True");
  });

  test.each([
    ["ready-after", "5 minutes", "Cannot use \"5 minutes\" as 'pods.binnacle.dev/ready-after': a duration is"],
    ["stops-after", "soon", "Cannot use \"soon\" as 'pods.binnacle.dev/stops-after'"],
    ["exit-code", "one", 'Cannot use "one" as pods.binnacle.dev/exit-code: expected numbers'],
    ["redy-after", "1s", "There is no annotation pods.binnacle.dev/redy-after: expected one of ready-after, "],
  ])("the annotation %s: %s is complained of in the status", (name, value, complaint) => {
    const subject = new Subject({}, said(name, value));
    const { status } = subject.after(0);
    expect(subject.state()).toBe("CreateContainerConfigError");
    expect(status.containerStatuses?.[0]?.state?.waiting?.message).toStartWith(complaint);
    expect(stopsAfter({ pod: subject.pod, behaviour: undefined })).toBe(0);
    const started = new Subject();
    started.after(0);
    started.annotate({ [`pods.binnacle.dev/${name}`]: value });
    expect(started.after(1_000).again).toBeUndefined();
    expect(started.state()).toBe("ready");
  });

  test("an annotation may change while it runs", () => {
    const subject = new Subject({}, said("ready-after", "never"));
    expect(subject.after(0).again).toBeUndefined();
    subject.annotate({ "pods.binnacle.dev/ready-after": "0s" });
    subject.after(10_000);
    expect(subject.condition("Ready")).toBe("True");
    subject.annotate({ "pods.binnacle.dev/ready-after": "never" });
    subject.after(0);
    expect(subject.condition("Ready")).toBe("False ContainersNotReady");
  });

  test("a one-off runs, then succeeds", () => {
    const subject = new Subject({ restartPolicy: "Never" });
    expect(subject.after(0).again).toBe(0);
    expect(subject.pod.status?.phase).toBe("Running");
    subject.after(0);
    expect([subject.pod.status?.phase, subject.state()]).toEqual(["Succeeded", "Completed 0"]);
    expect(subject.condition("Ready")).toBe("False PodCompleted");
  });

  test("a one-off fails by its exit code", () => {
    const subject = new Subject({ restartPolicy: "Never" }, said("exit-code", "3"));
    subject.after(0);
    subject.after(0);
    expect([subject.pod.status?.phase, subject.state()]).toEqual(["Failed", "Error 3"]);
    expect(subject.condition("Ready")).toBe("False PodFailed");
  });

  test("OnFailure restarts until it succeeds", () => {
    const subject = new Subject({ restartPolicy: "OnFailure" }, said("exit-code", "1,0"));
    subject.after(0);
    expect(subject.after(0).again).toBe(0);
    expect([subject.pod.status?.phase, subject.state()]).toEqual(["Running", "Error 1"]);
    subject.after(0);
    subject.after(0);
    expect([subject.pod.status?.phase, subject.state()]).toEqual(["Succeeded", "Completed 0"]);
    expect(subject.pod.status?.containerStatuses?.[0]?.restartCount).toBe(1);
  });

  test("a crash loop backs off: at once, 10 s, 20 s, at most 5 minutes", () => {
    const subject = new Subject(
      {},
      { annotations: { "pods.binnacle.dev/exits-after": "1s", "pods.binnacle.dev/exit-code": "1" } },
    );
    const delays: (number | undefined)[] = [];
    subject.after(0);
    for (let crash = 0; crash < 8; crash++) {
      subject.after(1_000); // it ends
      const { again } = subject.after(0); // it restarts or waits
      const waits = subject.state() === "CrashLoopBackOff";
      delays.push(waits ? again : 0);
      if (waits) subject.after(again!);
      expect(subject.pod.status?.containerStatuses?.[0]?.restartCount).toBe(crash + 1);
    }
    expect(delays).toEqual([0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  });

  test("init containers run one after the other, sidecars go on", () => {
    const initContainers = [container("first"), container("side", { restartPolicy: "Always" }), container("last")];
    const subject = new Subject({ initContainers });
    const seen: string[] = [];
    for (let look = 0; look < 5; look++) {
      subject.after(0);
      seen.push(["first", "side", "last", "main"].map((name) => subject.state(name)).join(", "));
    }
    expect(seen).toEqual([
      "running, PodInitializing, PodInitializing, PodInitializing",
      "Completed 0, ready, running, PodInitializing",
      "Completed 0, ready, Completed 0, ready",
      "Completed 0, ready, Completed 0, ready",
      "Completed 0, ready, Completed 0, ready",
    ]);
    expect(subject.pod.status?.phase).toBe("Running");
  });

  test("an init container that fails fails a pod that is not restarted", () => {
    const subject = new Subject(
      { restartPolicy: "Never", initContainers: [container("first")] },
      { annotations: { "first.pods.binnacle.dev/exit-code": "1" } },
    );
    subject.after(0);
    subject.after(0);
    expect(subject.pod.status?.phase).toBe("Failed");
    expect(subject.condition("Initialized")).toBe("False ContainersNotInitialized");
  });

  test("a container that cannot start waits", () => {
    const subject = new Subject({}, said("fails", "ImagePullBackOff"));
    expect(subject.after(0).again).toBeUndefined();
    expect([subject.pod.status?.phase, subject.state()]).toEqual(["Pending", "ImagePullBackOff"]);
  });

  test("a readiness gate holds it back", () => {
    const subject = new Subject({ readinessGates: [{ conditionType: "example.com/gate" }] });
    subject.after(0);
    expect([subject.condition("ContainersReady"), subject.condition("Ready")]).toEqual([
      "True",
      "False ReadinessGatesNotReady",
    ]);
  });

  test("activeDeadlineSeconds ends it", () => {
    const subject = new Subject({ activeDeadlineSeconds: 5 });
    expect(subject.after(0).again).toBe(5_000);
    const { status } = subject.after(5_000);
    expect(status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  });

  test("the program's word goes before the annotations, container by container", () => {
    const behaviour: PodBehaviour = (_, { name }) => (name === "second" ? { readyAfter: false } : undefined);
    const subject = new Subject(
      { containers: [container("main"), container("second")] },
      { ...said("ready-after", "0s"), behaviour },
    );
    subject.after(0);
    expect([subject.state("main"), subject.state("second")]).toEqual(["ready", "running"]);
  });

  test("an ephemeral container runs beside the others", () => {
    const subject = new Subject({ ephemeralContainers: [{ name: "debug", image: "shell" }] });
    const { status } = subject.after(0);
    expect(status.ephemeralContainerStatuses?.map(({ name, state }) => [name, state?.running !== undefined])).toEqual([
      ["debug", true],
    ]);
    expect(subject.after(5_000).status.ephemeralContainerStatuses).toEqual(status.ephemeralContainerStatuses);
    expect(subject.condition("Ready")).toBe("True");
  });
});
