/** A headless Chromium, and its pages with what they complain about. */
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Where pictures of the views are left for somebody to look at. */
const pictures = process.env["BINNACLE_TEST_PICTURES"];

/** Returns the path of the browser; `undefined` where there is none. */
export function chromiumProgram(): string | undefined {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    const path = Bun.which(name);
    if (path !== null) return path;
  }
  return undefined;
}

export async function startBrowser(): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath: chromiumProgram()!, args: isRoot ? ["--no-sandbox"] : [] });
}

export interface View {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** What the page's console and scripts have complained about. */
  readonly complaints: string[];
}

/** Opens an empty page. */
export async function openPage(browser: Browser): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Shows the page in the size and the colours. */
export async function show(page: Page, { width, scheme }: View): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: scheme });
}

/** Returns how many pixels the page is wider than the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/** Returns what axe-core calls serious or critical, with the elements. */
export async function barriers(page: Page): Promise<readonly string[]> {
  // The debugger evaluates it, which the page's Content-Security-Policy does not forbid.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: own } = globalThis as unknown as { readonly axe: { run(options: object): Promise<Report> } };
    interface Report {
      readonly violations: readonly {
        readonly id: string;
        readonly impact: string;
        readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
      }[];
    }
    const { violations } = await own.run({ resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
  });
}

/** Leaves a picture of the page if somebody has asked for pictures. */
export async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}
