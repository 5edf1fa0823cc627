import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import type { KeysAnswer } from "../../src/server/debug/answers.ts";
import { until } from "../support/until.ts";
import { barriers, chromiumProgram, openPage, overflow, picture, show, startBrowser, type View } from "./browser.ts";
import { startWebsites, type WebsiteProcess } from "./websites.ts";

const WIDTHS = [360, 1_280, 1_920];
const SCHEMES = ["light", "dark"] as const;
const object = (name: string): string => `/objects?kind=Website.demo.example.com&namespace=default&name=${name}`;
const paths: Readonly<Record<string, string>> = {
  overview: "/",
  objects: "/objects",
  "object that is parked": object("parked-by-its-controller"),
  "object that waits": object("waits-for-its-deployment"),
  "object that nobody knows": object("none"),
  keys: "/keys",
  runs: "/runs",
  modules: "/modules",
  informers: "/informers",
  log: "/log",
  process: "/process",
};
const everything: readonly View[] = WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ width, scheme })));

describe.skipIf(chromiumProgram() === undefined)("every view can be read", () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await startBrowser()));
  afterAll(() => browser?.close());

  test.each<[number, readonly View[]]>([
    [0, [{ width: 1_280, scheme: "light" }]],
    [10, everything],
    [5_000, [{ width: 360, scheme: "dark" }]],
  ])("with %i objects", async (count, views) => {
    await using websites = await startWebsites();
    await websites.createAll(count);
    await settled(websites, count);
    const problems: string[] = [];
    for (const [name, path] of Object.entries(paths)) {
      const millis = await quickest(`${websites.origin}${path}`);
      if (millis > 50) problems.push(`${name} takes ${millis} ms`);
    }
    await using opened = await openPage(browser);
    const { page, complaints } = opened;
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(`${websites.origin}${path}`);
      await page.locator(".connection", { hasText: "live" }).waitFor();
      if (name === "log" && count > 0) await page.locator("ol.log li").first().waitFor();
      for (const view of views) {
        await show(page, view);
        await picture(page, `${count} ${name} ${view.width} ${view.scheme}`);
        const wider = await overflow(page);
        const found = [
          ...(wider > 0 ? [`${wider} pixels too wide`] : []),
          ...complaints.splice(0),
          ...(await barriers(page)),
        ];
        problems.push(...found.map((one) => `${name} at ${view.width}, ${view.scheme}: ${one}`));
      }
    }
    expect(problems).toEqual([]);
  });
});

/** The milliseconds of the quickest of some requests, because the machine does other things meanwhile. */
async function quickest(address: string): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 5; count++) {
    const begin = performance.now();
    await (await fetch(address)).text();
    times.push(performance.now() - begin);
  }
  return Math.min(...times);
}

/** Waits until each website has run. */
async function settled(websites: WebsiteProcess, count: number): Promise<void> {
  if (count === 0) return;
  const failing = count === 10 ? 1 : count - 9;
  await until(async () => (await websites.ask<KeysAnswer>("/debug/keys?state=failing&limit=1")).total === failing, {});
  await until(
    async () => (await websites.ask<KeysAnswer>("/debug/keys?state=waiting,running&limit=1")).total === 0,
    {},
  );
}
