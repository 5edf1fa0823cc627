/** The targets that an executable can be built for. */
import { type Architecture, readElf } from "../image/elf.ts";

export interface Target {
  /** The name that `--target` takes. */
  readonly name: string;
  readonly os: "linux" | "darwin" | "windows";
  /** The processor, as Node names it. */
  readonly cpu: "x64" | "arm64";
  readonly libc?: "glibc" | "musl";
  /** The package of npm with the runtime. */
  readonly runtime: string;
  /** The subresource integrity of that package at the version that this program is built with. */
  readonly integrity: string;
}

/** The version of the runtime for which {@link targets} are, the same as this program's own. */
export const RUNTIME_VERSION = "1.4.5";

export const targets: readonly Target[] = [
  {
    name: "linux-x64",
    os: "linux",
    cpu: "x64",
    libc: "glibc",
    runtime: "@oven/bun-linux-x64",
    integrity: "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
  },
  {
    name: "linux-arm64",
    os: "linux",
    cpu: "arm64",
    libc: "glibc",
    runtime: "@oven/bun-linux-aarch64",
    integrity: "sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
  },
  {
    name: "linux-x64-musl",
    os: "linux",
    cpu: "x64",
    libc: "musl",
    runtime: "@oven/bun-linux-x64-musl",
    integrity: "sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==",
  },
  {
    name: "linux-arm64-musl",
    os: "linux",
    cpu: "arm64",
    libc: "musl",
    runtime: "@oven/bun-linux-aarch64-musl",
    integrity: "sha512-XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==",
  },
  {
    name: "darwin-x64",
    os: "darwin",
    cpu: "x64",
    runtime: "@oven/bun-darwin-x64",
    integrity: "sha512-qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==",
  },
  {
    name: "darwin-arm64",
    os: "darwin",
    cpu: "arm64",
    runtime: "@oven/bun-darwin-aarch64",
    integrity: "sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==",
  },
  {
    name: "windows-x64",
    os: "windows",
    cpu: "x64",
    runtime: "@oven/bun-windows-x64",
    integrity: "sha512-FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==",
  },
  {
    name: "windows-arm64",
    os: "windows",
    cpu: "arm64",
    runtime: "@oven/bun-windows-aarch64",
    integrity: "sha512-MiPFZnBNDnBXgr1oONc5pizC4fOLjnIOfNkYdFEnWzLmoFTg86naZIG3SvS7d/GglpQSAnCKMAzSjI/TAckiRw==",
  },
];

/** Other names of processors and systems, as Docker, Go and Bun write them. */
const spellings: Readonly<Record<string, string>> = {
  amd64: "x64",
  x86_64: "x64",
  aarch64: "arm64",
  macos: "darwin",
  win32: "windows",
};

/** Reads `linux-arm64`, `linux/arm64`, `bun-linux-aarch64-musl` and their like. */
export function parseTarget(text: string): Target | undefined {
  const words = text.toLowerCase().replace(/^bun-/, "").split(/[-/]/);
  const name = words
    .map((word) => spellings[word] ?? word)
    .filter((word) => word !== "glibc" && word !== "gnu")
    .join("-");
  return targets.find((target) => target.name === name);
}

/** Returns the target of this machine; `undefined` when it cannot be built for. */
export function hostTarget(): Target | undefined {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const matching = targets.filter((target) => target.os === os && target.cpu === process.arch);
  return matching.find(({ libc }) => libc === undefined || libc === hostLibc());
}

/** Returns the C library of this process, which its loader shows. */
function hostLibc(): "glibc" | "musl" {
  return readElf(process.execPath)?.interpreter?.includes("ld-musl") === true ? "musl" : "glibc";
}

export function architectureOf({ cpu }: Target): Architecture {
  return cpu === "x64" ? "amd64" : "arm64";
}
