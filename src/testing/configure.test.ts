import { expect, test } from "bun:test";
import { config, z } from "binnacle";
import { configure } from "binnacle/testing";

const settings = config(z.object({ apiToken: z.string(), replicas: z.coerce.number().default(2) }));

test("configure gives values for as long as the test wants", () => {
  {
    using _ = configure(settings, { apiToken: "for the test", replicas: "3" });
    expect([settings.apiToken, settings.replicas]).toEqual(["for the test", 3]);
    // What is shown of it has no secrets.
    expect(Bun.inspect(settings)).not.toContain("for the test");
  }
  expect(settings.replicas).toBe(2);
  expect(() => settings.apiToken).toThrow("configure(settings, { apiToken: … })");
});

test("configure refuses what the schema refuses, and what is no configuration", () => {
  expect(() => configure(settings, { apiToken: "", replicas: "three" })).toThrow("Cannot configure: replicas: ");
  // @ts-expect-error the token is missing
  expect(() => configure(settings, { replicas: 1 })).toThrow("Cannot configure: apiToken: ");
  expect(() => configure({}, {})).toThrow("Cannot configure: expected what config(…) has returned");
});
