import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import type { KeysAnswer, ProcessAnswer } from "../../src/server/debug/answers.ts";
import { until } from "../support/until.ts";
import { chromiumProgram, type OpenPage, openPage, startBrowser } from "./browser.ts";
import { HOSTILE, startWebsites, Website, type WebsiteProcess, WORD } from "./websites.ts";

const object = (name: string): string => `/objects?kind=Website.demo.example.com&namespace=default&name=${name}`;

describe.skipIf(chromiumProgram() === undefined)("the dashboard", () => {
  let browser: Browser;
  let websites: WebsiteProcess;
  let opened: OpenPage | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
    websites = await startWebsites();
    await websites.createAll(10);
    await until(async () => (await websites.ask<KeysAnswer>("/debug/keys?state=parked")).total === 3, {});
  });
  afterEach(async () => {
    const complaints = opened?.complaints ?? [];
    await opened?.[Symbol.asyncDispose]();
    opened = undefined;
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await websites?.[Symbol.asyncDispose]();
  });

  /** Opens a page, with the token as the terminal prints it unless told otherwise. */
  async function open(path: string, { hasToken = true, of = websites } = {}): Promise<Page> {
    opened = await openPage(browser);
    const { page } = opened;
    if (hasToken) await page.goto(`${of.origin}/#token=${of.manager.debugToken}`);
    await page.goto(`${of.origin}${path}`);
    await page.locator(".connection", { hasText: "live" }).waitFor();
    return page;
  }

  test("shows everything without the token, but acts on nothing and says why", async () => {
    const page = await open(object("parked-by-its-controller"), { hasToken: false });
    const button = page.getByRole("button", { name: "Run again" }).first();
    expect(await button.isDisabled()).toBe(true);
    expect(await button.getAttribute("title")).toContain("binnacle dashboard");
    expect(await page.locator("#no-token").textContent()).toContain("Buttons are off");
    await page.goto(`${websites.origin}/modules`);
    expect(await page.locator("select[data-action]").first().isDisabled()).toBe(true);
  });

  test("takes the token out of the address, and keeps it while the tab is open", async () => {
    const page = await open("/keys", { hasToken: false });
    await page.goto(`${websites.origin}/keys#token=${websites.manager.debugToken}`);
    await until(() => !page.url().includes("token"), {});
    expect(await page.getByRole("button", { name: "Run again" }).first().isEnabled()).toBe(true);
    await page.goto(`${websites.origin}${object("parked-by-its-controller")}`);
    expect(await page.getByRole("button", { name: "Run again" }).first().isEnabled()).toBe(true);
    expect(await page.locator("#no-token").isHidden()).toBe(true);
  });

  test("says first why an object is not ready", async () => {
    const page = await open(object("parked-by-its-controller"), { hasToken: false });
    await page.setViewportSize({ width: 360, height: 640 });
    const reason = page.getByText('TerminalError: the text "hello" is forbidden by the policy of the house').first();
    expect((await reason.boundingBox())!.y).toBeLessThan(640);
    expect(await page.locator("#present .badge").allTextContents()).toEqual(["parked", "Ready False"]);
    await page.goto(`${websites.origin}${object("waits-for-its-deployment")}`);
    const condition = page.locator("#present", { hasText: "NoPods 0 of 2 pods are ready: none could be scheduled" });
    expect((await condition.boundingBox())!.y).toBeLessThan(640);
    expect(await page.locator("#owners").textContent()).toContain(
      "Available False Deployment does not have minimum availability.",
    );
    await page.goto(`${websites.origin}${object("fails-again-and-again")}`);
    expect(await page.locator("#present").textContent()).toMatch(
      /failingwebsiteagain in 1\d+m\d+s, 1 failure so far.*cannot reach the registry of texts: ECONNREFUSED/,
    );
  });

  test("runs a parked key again, and shows the run without being loaded again", async () => {
    const name = "parked-until-somebody-looks";
    await websites.create(name, { text: "hello" });
    await until(async () => (await websites.ask<KeysAnswer>(`/debug/keys?state=parked&key=${name}`)).total === 1, {});
    const page = await open(object(name));
    await page.evaluate(() => Object.assign(globalThis, { isLoadedOnce: true }));
    expect(await page.locator("#timeline > ol > li").count()).toBe(1);
    websites.healed.add(name);
    await page.locator("#present").getByRole("button", { name: "Run again" }).click();
    await page.locator("#toast", { hasText: `website default/${name} runs again.` }).waitFor();
    await page.locator("#present .badge", { hasText: "idle" }).waitFor();
    await page.locator("#timeline", { hasText: "somebody asked for it" }).waitFor();
    await page.locator("#timeline", { hasText: "Ready False → True (Served)" }).waitFor();
    expect(await page.evaluate(() => "isLoadedOnce" in globalThis)).toBe(true);
  });

  test("shows what an edit changed, and leads from an object to its owner and back", async () => {
    const page = await open(object("shop"));
    await websites.cluster.client.patch(
      Website,
      { namespace: "default", name: "shop" },
      { type: "merge", body: { spec: { text: "good-bye" } } },
    );
    const change = page.locator("#timeline tr", { hasText: "spec.text" }).first();
    await change.waitFor();
    expect([await change.locator("del").textContent(), await change.locator("ins").textContent()]).toEqual([
      "hello",
      "good-bye",
    ]);
    await page.locator("#timeline tr", { hasText: "data.text" }).first().waitFor();
    await page.locator("#owners").getByRole("link", { name: "ConfigMap default/shop-page" }).click();
    await page.getByRole("heading", { name: "ConfigMap default/shop-page" }).waitFor();
    // The run of the owner has written it.
    await page.locator("#timeline tr", { hasText: "data.text" }).first().waitFor();
    await page.locator("#owners").getByRole("link", { name: "Website default/shop" }).click();
    await page.getByRole("heading", { name: "Website default/shop", exact: true }).waitFor();
  });

  test("pauses and resumes a module", async () => {
    const page = await open("/modules");
    const module = page.getByRole("region", { name: "words.ts" });
    await module.getByRole("button", { name: "Pause: words.ts" }).click();
    await module.locator(".badge", { hasText: "paused" }).first().waitFor();
    await module.getByRole("button", { name: "Resume: words.ts" }).click();
    await module.getByRole("button", { name: "Pause: words.ts" }).waitFor();
    expect(await module.locator(".badge", { hasText: "paused" }).count()).toBe(0);
  });

  test("sets the level of a module's log", async () => {
    const page = await open("/modules");
    const select = page.getByRole("region", { name: "words.ts" }).getByRole("combobox");
    const levels = async () => (await websites.ask<ProcessAnswer>("/debug/process")).log.modules;
    await select.selectOption("error");
    await page.locator("#toast", { hasText: "The level of words.ts is set." }).waitFor();
    expect(await levels()).toEqual({ "words.ts": "error" });
    await select.selectOption("default");
    await until(async () => Object.keys(await levels()).length === 0, {});
  });

  test("filters the log, and appends its lines as they come", async () => {
    const page = await open("/log");
    await page.locator("ol.log li.error").first().waitFor();
    await page.getByRole("combobox", { name: "Level" }).selectOption("warn");
    await page.waitForURL(/level=warn/);
    await page.locator("ol.log li.warn").first().waitFor();
    expect(await page.locator("ol.log li.info, ol.log li.debug").count()).toBe(0);
    await page.locator("ol.log details").first().waitFor();
    await page.goto(`${websites.origin}/log`);
    await page.getByRole("textbox", { name: "Key" }).fill("default/blog");
    await page.keyboard.press("Enter");
    await page.waitForURL(/key=default%2Fblog/);
    const lines = page.locator("ol.log li");
    await lines.first().waitFor();
    const before = await lines.count();
    expect((await lines.allTextContents()).every((line) => line.includes("default/blog"))).toBe(true);
    for (const name of ["wiki", "blog"]) {
      const patch = { type: "merge", body: { spec: { text: "news" } } } as const;
      await websites.cluster.client.patch(Website, { namespace: "default", name }, patch);
    }
    await lines.filter({ hasText: "text=news" }).first().waitFor();
    expect(await lines.count()).toBeGreaterThan(before);
    expect((await lines.allTextContents()).some((line) => line.includes("wiki"))).toBe(false);
  });

  test("filters keys by state, controller and text", async () => {
    const page = await open("/keys");
    await page.getByRole("combobox", { name: "State" }).selectOption("failing");
    await page.waitForURL(/state=failing/);
    expect(await page.locator("#key-table tbody tr").count()).toBe(1);
    await page.goto(`${websites.origin}/keys`);
    await page.getByRole("combobox", { name: "Controller" }).selectOption("words");
    await page.waitForURL(/controller=words/);
    expect(await page.locator("#key-table tbody tr").count()).toBe(1);
    await page.goto(`${websites.origin}/keys`);
    await page.keyboard.press("/");
    await page.keyboard.type("by-its");
    await page.keyboard.press("Enter");
    await page.waitForURL(/key=by-its/);
    expect(await page.locator("#keys > p").textContent()).toBe("1 key");
    await page.getByRole("link", { name: "default/parked-by-its-controller" }).click();
    await page.getByRole("heading", { level: 2, name: "Website default/parked-by-its-controller" }).waitFor();
  });

  test("opens pages by their number, and the search by /", async () => {
    const page = await open("/");
    for (const [key, title] of [
      ["3", "Keys"],
      ["8", "Process"],
      ["2", "Objects"],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
    await page.goto(`${websites.origin}${object("blog")}`);
    await page.keyboard.press("/");
    expect(await focused(page)).toBe("kind");
    await page.keyboard.type("3");
    expect(page.url()).toContain("/objects");
  });

  test("keeps what somebody reads, types and has the focus on while it refreshes", async () => {
    const page = await open(object("docs"));
    const details = page.locator("#timeline details").first();
    const id = (await details.getAttribute("id"))!;
    await details.locator("summary").click();
    const button = page.locator("#present").getByRole("button", { name: "Run again" });
    await button.focus();
    await refreshed(page, "docs");
    expect(await page.locator(`#${id}`).getAttribute("open")).not.toBeNull();
    expect(await focused(page)).toBe("run website default/docs");
    await page.locator("#other summary").click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("half a na");
    await refreshed(page, "docs");
    expect(await page.getByRole("textbox", { name: "Name", exact: true }).inputValue()).toBe("half a na");
    expect(await page.locator("#other").getAttribute("open")).not.toBeNull();
    // A text that somebody has marked is not taken from under the mouse.
    await page.locator("#present").selectText();
    const before = await page.evaluate(() => getSelection()!.toString());
    await refreshed(page, "docs");
    expect(await page.evaluate(() => getSelection()!.toString())).toBe(before);
  });

  test("shows names and messages as text, and its policy forbids scripts of others", async () => {
    const page = await open(object("hostile"));
    await page.getByText(`TerminalError: ${HOSTILE}`).first().waitFor();
    for (const path of ["/", "/runs", "/keys", "/log", `/log?text=${encodeURIComponent('"><script>')}`]) {
      await page.goto(`${websites.origin}${path}`);
      await page.locator(".connection", { hasText: "live" }).waitFor();
      if (path === "/log") await page.getByText(HOSTILE).first().waitFor();
      expect(await page.title()).toContain("binnacle");
      expect(await page.locator("main img, main b, main script").count()).toBe(0);
    }
    await page.goto(`${websites.origin}/keys?controller=words`);
    const button = page.getByRole("button", { name: `Run again: words ${WORD}` });
    await button.click();
    await page.locator("#toast", { hasText: `words ${WORD} runs again.` }).waitFor();
    // Even markup in the page would do nothing.
    await page.evaluate(() => {
      document.body.insertAdjacentHTML("beforeend", `<img src="data:,x" onerror="document.title = 'taken'">`);
      const script = document.createElement("script");
      script.textContent = "document.title = 'taken'";
      document.body.append(script);
    });
    const refusals = opened!.complaints;
    await until(() => refusals.length >= 2, { what: () => `two refusals among ${refusals.join()}` });
    expect(refusals.splice(0).every((one) => one.includes("Content Security Policy"))).toBe(true);
    expect(await page.title()).not.toBe("taken");
  });

  test("says that the process does not answer", async () => {
    await using other = await startWebsites();
    const page = await open("/", { of: other });
    await page.goto(`${other.origin}/modules`);
    await page.locator(".connection", { hasText: "live" }).waitFor();
    await other.manager.stop();
    await page.locator(".connection.lost", { hasText: "the process does not answer" }).waitFor();
    await page.getByRole("button", { name: "Pause: words.ts" }).click();
    await page.locator("#toast", { hasText: "The process does not answer." }).waitFor();
    opened!.complaints.length = 0; // the browser says itself that nobody listens any more
  });

  /** Has the page show a new run of the object. */
  async function refreshed(page: Page, name: string): Promise<void> {
    const runs: Locator = page.locator("#timeline > ol > li");
    const before = await runs.count();
    await websites.cluster.client.patch(
      Website,
      { namespace: "default", name },
      { type: "merge", body: { spec: { text: `text ${before}` } } },
    );
    await until(async () => (await runs.count()) > before, {});
  }
});

/** The name or the id of the element that has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { activeElement } = document;
    return activeElement?.getAttribute("name") ?? activeElement?.id ?? "";
  });
}
