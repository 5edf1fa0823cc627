/** A kind as in kubebuilder's tutorial, whose spec has the template of a Job, from definition to Job. */
import { expect, test } from "bun:test";
import { conditions, defineController, defineResource, of, z } from "binnacle";
import { Job } from "binnacle/resources";
import { affinity, jobTemplateSpec, objectReference, time } from "binnacle/schemas";
import { eventually, matchers, runModule, startCluster } from "binnacle/testing";
import { assets } from "../../tests/support/control-plane.ts";

expect.extend(matchers);

const programs = await assets();

const Nightly = defineResource({
  group: "batch.example.com",
  version: "v1",
  kind: "Nightly",
  spec: z.object({
    schedule: z.string().min(1),
    suspend: z.boolean().optional(),
    jobTemplate: jobTemplateSpec(),
    affinity: affinity().optional(),
  }),
  status: z.object({
    active: z.array(objectReference()).optional(),
    lastScheduleTime: time().optional(),
    conditions: conditions("Ready"),
  }),
});

const nightly = defineController({
  for: Nightly,
  owns: [Job],
  async reconcile({ metadata: { name }, spec }, { children, status, now }) {
    const { metadata, spec: job } = spec.jobTemplate;
    const pod = { ...job.template.spec, affinity: spec.affinity };
    const { run } = await children.sync({
      run: of(Job, {
        metadata: { name, labels: metadata?.labels },
        spec: { ...job, template: { ...job.template, spec: pod } },
      }),
    });
    status.set({
      active: [{ apiVersion: run.apiVersion, kind: run.kind, name: run.metadata.name, uid: run.metadata.uid }],
      lastScheduleTime: new Date(now()).toISOString(),
    });
    status.condition({ type: "Ready", status: true, reason: "Scheduled" });
  },
});

test.each(programs !== undefined ? (["embedded", "real"] as const) : (["embedded"] as const))(
  "a kind with the template of a Job works on the %s server, and is silent once the Job is there",
  async (server) => {
    const set = process.env["KUBEBUILDER_ASSETS"];
    await using restored = new AsyncDisposableStack();
    if (server === "real" && set === undefined) {
      process.env["KUBEBUILDER_ASSETS"] = programs!;
      restored.defer(() => void delete process.env["KUBEBUILDER_ASSETS"]);
    }
    await using cluster = await startCluster({ server, pods: false });
    await using module = await runModule(nightly, cluster);
    const key = { namespace: "default", name: "report" };
    await cluster.client.create(Nightly, {
      metadata: key,
      spec: {
        schedule: "*/1 * * * *",
        jobTemplate: {
          metadata: { labels: { team: "reports" } },
          spec: {
            backoffLimit: 1,
            template: {
              metadata: { labels: { app: "report" } },
              spec: {
                restartPolicy: "OnFailure",
                containers: [
                  {
                    name: "report",
                    image: "busybox:1.37",
                    args: ["date"],
                    ports: [{ containerPort: 80 }],
                    resources: { requests: { cpu: "100m", memory: 1024 } },
                  },
                ],
              },
            },
          },
        },
      },
    });
    await eventually(async () => expect(await cluster.client.get(Nightly, key)).toHaveCondition("Ready"));
    const job = await cluster.client.get(Job, key);
    expect(job.metadata.labels).toEqual({ team: "reports" });
    expect(job.spec?.template.metadata?.labels).toMatchObject({ app: "report" });
    expect(job.spec?.template.spec.containers[0]).toMatchObject({
      ports: [{ containerPort: 80, protocol: "TCP" }],
      resources: { requests: { cpu: "100m" } },
    });
    await module.idle();
    const { metadata } = await cluster.client.get(Job, key);
    await cluster.client.edit(Nightly, key, (draft) => {
      draft.metadata.labels = { touched: "yes" };
    });
    await module.idle();
    expect((await cluster.client.get(Job, key)).metadata.generation).toBe(metadata.generation);
  },
  60_000,
);
