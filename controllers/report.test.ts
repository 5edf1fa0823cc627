// Conversions are tested as functions, then through a cluster, whose API server asks for them.
import { expect, test } from "bun:test";
import { resource } from "binnacle";
import { CronJob } from "binnacle/resources";
import { conversionLosses, convert, eventually, matchers, runModule, startCluster } from "binnacle/testing";
import { Report, report } from "./report.ts";

expect.extend(matchers);
const key = { namespace: "default", name: "weekly" };
const OldReport = resource("demo.binnacle.dev/v1beta1", "Report");

test("nothing is lost between the versions", async () => {
  expect(await conversionLosses(Report)).toEqual([]);
});

test("an old schedule is taken apart, and put together again", () => {
  const spec = { title: "Sales", schedule: "CRON_TZ=Europe/Berlin 0 3 * * 1" };
  const old = { apiVersion: "demo.binnacle.dev/v1beta1", metadata: { name: "weekly" }, spec };
  const { spec: now } = convert(Report, old, "v1");
  expect(now.schedule).toEqual({ cron: "0 3 * * 1", timeZone: "Europe/Berlin" });
  const suspended = { apiVersion: Report.apiVersion, metadata: { name: "weekly" }, spec: { ...now, suspended: true } };
  const back = convert(Report, suspended, "v1beta1");
  expect(back).toMatchObject({ spec, metadata: { annotations: { "demo.binnacle.dev/suspended": "true" } } });
});

test("a report of the old version becomes a CronJob, and both versions show the same report", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(report, cluster);
  const { client } = cluster;
  await client.create(OldReport, { metadata: key, spec: { title: "Sales", schedule: "CRON_TZ=Etc/UTC 0 3 * * 1" } });
  await eventually(async () => {
    const { spec } = await client.get(CronJob, key);
    expect(spec).toMatchObject({ schedule: "0 3 * * 1", timeZone: "Etc/UTC", suspend: false });
    expect(await client.get(Report, key)).toHaveCondition("Scheduled");
  });
  await client.patch(Report, key, { type: "merge", body: { spec: { suspended: true } } });
  const old = await client.get(OldReport, key);
  expect(old["spec"]).toEqual({ title: "Sales", schedule: "CRON_TZ=Etc/UTC 0 3 * * 1" });
  await client.patch(OldReport, key, { type: "merge", body: { spec: { schedule: "0 4 * * *" } } });
  await eventually(async () => {
    const { spec } = await client.get(CronJob, key);
    expect(spec).toMatchObject({ schedule: "0 4 * * *", suspend: true });
    expect(spec.timeZone).toBeUndefined();
  });
});
