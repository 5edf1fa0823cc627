// A Report becomes a CronJob. It shows a kind with two versions, conversions that lose nothing, and an annotation for
// a field that the old version lacks.
import { conditions, defineController, defineResource, of, z } from "binnacle";
import { CronJob } from "binnacle/resources";

const SUSPENDED = "demo.binnacle.dev/suspended";
const image = "registry.k8s.io/e2e-test-images/agnhost:2.47";

const cron = /^[0-9*,/-]+( [0-9*,/-]+){4}$/;
const zone = /^[A-Z][A-Za-z]+(\/[A-Z][A-Za-z_]+)*$/;
const schedule = /^(CRON_TZ=[A-Z][A-Za-z]+(\/[A-Z][A-Za-z_]+)* )?[0-9*,/-]+( [0-9*,/-]+){4}$/;
const status = z.object({ conditions: conditions("Scheduled") });

export const Report = defineResource({
  group: "demo.binnacle.dev",
  kind: "Report",
  versions: {
    v1: {
      spec: z.object({
        title: z.string().min(1),
        schedule: z.object({ cron: z.string().regex(cron), timeZone: z.string().regex(zone).optional() }),
        suspended: z.boolean().default(false),
      }),
      status,
      columns: [
        { name: "Cron", type: "string", path: ".spec.schedule.cron" },
        { name: "Suspended", type: "boolean", path: ".spec.suspended" },
      ],
    },
    // This version had the time zone in front of the schedule, and its reports could not be suspended.
    v1beta1: {
      deprecated: "demo.binnacle.dev/v1beta1 Report is deprecated: use demo.binnacle.dev/v1",
      spec: z.object({ title: z.string().min(1), schedule: z.string().regex(schedule) }),
      status,
      columns: [{ name: "Schedule", type: "string", path: ".spec.schedule" }],
      toHub({ metadata: { annotations = {} }, spec: { title, schedule }, status }) {
        const [first = "", ...rest] = schedule.split(" ");
        const timeZone = first.startsWith("CRON_TZ=") ? first.slice("CRON_TZ=".length) : undefined;
        const { [SUSPENDED]: suspended, ...others } = annotations;
        return {
          metadata: { annotations: others },
          spec: {
            title,
            schedule: timeZone === undefined ? { cron: schedule } : { cron: rest.join(" "), timeZone },
            suspended: suspended === "true",
          },
          status,
        };
      },
      fromHub({ metadata: { annotations }, spec: { title, schedule, suspended }, status }) {
        const prefix = schedule.timeZone === undefined ? "" : `CRON_TZ=${schedule.timeZone} `;
        return {
          metadata: { annotations: { ...annotations, ...(suspended && { [SUSPENDED]: "true" }) } },
          spec: { title, schedule: `${prefix}${schedule.cron}` },
          status,
        };
      },
    },
  },
  hub: "v1",
  storage: "v1",
});

export const report = defineController({
  for: Report,
  owns: [CronJob],
  async reconcile({ metadata: { name }, spec: { title, schedule, suspended } }, { children, status }) {
    const containers = [{ name: "report", image, args: ["pause"], env: [{ name: "TITLE", value: title }] }];
    await children.sync({
      job: of(CronJob, {
        metadata: { name },
        spec: {
          schedule: schedule.cron,
          timeZone: schedule.timeZone,
          suspend: suspended,
          jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers } } } },
        },
      }),
    });
    status.condition({ type: "Scheduled", status: !suspended, reason: suspended ? "Suspended" : "CronJobApplied" });
  },
});
