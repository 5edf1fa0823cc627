/** The programs of a node, built once with Go from their modules and kept outside the repository. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { locked } from "../../scripts/controlplane/assets.ts";
import { writeArchive } from "./archive.ts";
import { outputOf, run, type RunOptions } from "./programs.ts";

const source = join(import.meta.dirname, "go");
/** Another one for each change of what is done here, so that everything is built anew. */
const RECIPE = "1";
const KUBERNETES = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "kubectl",
  "forward",
];
/** Only unpacked, never installed: nft for kube-proxy, seccomp for runc, and a shell for pods. */
const DEBIAN =
  "nftables libnftables1 libnftnl11 libmnl0 libjansson4 libxtables12 libedit2 libbsd0 libmd0 libgmp10 busybox-static libseccomp-dev";
const CONTAINERD = "github.com/containerd/containerd/v2/cmd";
const CNI = "github.com/containernetworking/plugins/plugins";

/** The images that every node has: what holds a pod, a shell, and the one that the examples run. */
export const BUSYBOX = "localhost/busybox:1";
const AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:2.47";

/** What is fetched cannot be had here, as without a network: not a fault of the project. */
export class Unavailable extends Error {
  override readonly name = "Unavailable" as const;
}

/** The folder with everything, built when it is not there. @throws Unavailable, or with the words of what failed */
export async function nodeAssets(): Promise<string> {
  const folder = await cached("node", ["kubernetes", "runtime", "coredns"]);
  await locked(`${folder}.lock`, async () => {
    if (!existsSync(folder)) await aside(folder, "a Kubernetes node (about 4 minutes)", build);
  });
  return folder;
}

/** The path of Helm, built when it is not there. */
export async function helmProgram(): Promise<string> {
  const folder = await cached("helm", ["helm"]);
  await locked(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    await aside(folder, "Helm (about a minute)", async (into) => {
      await goBuild("helm", ["-o", join(into, "helm"), "helm.sh/helm/v4/cmd/helm"]);
    });
  });
  return join(folder, "helm");
}

/** One folder for each state of its sources, so that a newer checkout never runs an older build. */
async function cached(name: string, folders: readonly string[]): Promise<string> {
  const hash = createHash("sha256").update(RECIPE);
  const files = folders.flatMap((one) => [`${one}/go.mod`, `${one}/go.sum`]);
  if (name === "node") files.push("kubernetes/main.go", "kubernetes/forward.go", "coredns/main.go", "pause.c");
  for (const file of files) hash.update(await readFile(join(source, file)));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(cache, "binnacle", `${name}-${hash.digest("hex").slice(0, 12)}`);
}

/** Builds beside the folder and renames, so that the folder is either complete or absent. */
async function aside(folder: string, what: string, work: (into: string) => Promise<void>): Promise<void> {
  console.error(`Building ${what} with Go, once, into ${folder}`);
  const into = `${folder}.${process.pid}`;
  await mkdir(into, { recursive: true });
  try {
    await work(into);
    await rename(into, folder);
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

async function build(into: string): Promise<void> {
  for (const name of ["bin", "cni", "images", "debian", "root"]) await mkdir(join(into, name));
  await unpackDebian(into);
  await buildKubernetes(into);
  await buildRuntime(into);
  await goBuild("coredns", ["-o", join(into, "bin", "coredns"), "."]);
  await makeImages(into);
}

async function unpackDebian(into: string): Promise<void> {
  // Without a network it would try each package for minutes.
  const apt = async (...args: readonly string[]) => {
    const options = ["Acquire::Retries=1", "Acquire::http::Timeout=15", "Acquire::https::Timeout=15"];
    const within = ["--kill-after=10", "240", "apt-get", ...options.flatMap((one) => ["-o", one])];
    return await outputOf("timeout", [...within, ...args], { cwd: join(into, "debian") });
  };
  const download = () => apt("download", ...DEBIAN.split(" "));
  let { code, stderr } = await download();
  if (code !== 0) {
    // The lists of a fresh machine are empty.
    await apt("update");
    ({ code, stderr } = await download());
  }
  if (code !== 0) throw new Unavailable(`apt-get cannot download ${DEBIAN}: ${stderr.trim().split("\n").at(-1) ?? ""}`);
  for (const file of await readdir(join(into, "debian"))) {
    await run("dpkg", ["-x", join(into, "debian", file), join(into, "root")]);
  }
  // It runs with the libraries that were unpacked beside it.
  const nft = `#!/bin/sh
root=$(dirname "$0")/../root
LD_LIBRARY_PATH=$(echo "$root"/usr/lib/*-linux-gnu*) exec "$root/usr/sbin/nft" "$@"
`;
  await writeFile(join(into, "bin", "nft"), nft, { mode: 0o755 });
}

async function buildKubernetes(into: string): Promise<void> {
  const required = await readFile(join(source, "kubernetes", "go.mod"), "utf8");
  const version = /k8s\.io\/kubernetes (v1\.(\d+)\.\d+)/.exec(required);
  if (version === null) throw new Error("tests/node/go/kubernetes/go.mod requires no k8s.io/kubernetes");
  const variables = { gitVersion: version[1], gitMajor: "1", gitMinor: version[2] };
  const linked = Object.entries(variables).map(([name, set]) => `-X k8s.io/component-base/version.${name}=${set}`);
  const node = join(into, "bin", "node");
  await goBuild("kubernetes", ["-ldflags", ["-s -w", ...linked].join(" "), "-o", node, "."]);
  for (const name of KUBERNETES) await symlink("node", join(into, "bin", name));
  await goBuild("kubernetes", ["-o", join(into, "agnhost"), "./agnhost"]);
}

/** runc is linked with seccomp, which the profile RuntimeDefault of a pod needs. */
async function buildRuntime(into: string): Promise<void> {
  const programs = ["containerd", "containerd-shim-runc-v2", "ctr"].map((name) => `${CONTAINERD}/${name}`);
  await goBuild("runtime", ["-o", `${join(into, "bin")}/`, ...programs]);
  const plugins = ["ipam/host-local", "main/loopback", "main/ptp", "meta/portmap"].map((name) => `${CNI}/${name}`);
  await goBuild("runtime", ["-o", `${join(into, "cni")}/`, ...plugins]);
  const usr = join(into, "root", "usr");
  const [library] = [...new Bun.Glob("lib/*/libseccomp.a").scanSync(usr)];
  if (library === undefined) throw new Error("Cannot build runc: libseccomp-dev holds no libseccomp.a");
  const work = await mkdtemp(join(tmpdir(), "runc-"));
  try {
    const config = join(work, "pkg-config");
    await writeFile(config, '#!/bin/sh\ncase "$*" in *--libs*) echo -lseccomp;; esac\n', { mode: 0o755 });
    const tags = ["-tags", "seccomp netgo osusergo urfave_cli_no_docs"];
    const linking = ["-ldflags", "-s -w -linkmode external -extldflags -static"];
    await goBuild("runtime", [...tags, ...linking, "-o", join(into, "bin", "runc"), "github.com/opencontainers/runc"], {
      CGO_ENABLED: "1",
      PKG_CONFIG: config,
      CGO_CFLAGS: `-O2 -I${join(usr, "include")}`,
      CGO_LDFLAGS: `-L${join(usr, library, "..")}`,
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function makeImages(into: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "images-"));
  try {
    const [pause, shell, host] = ["pause", "busybox", "agnhost"].map((name) => join(work, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [pause, join(shell, "bin"), join(shell, "etc"), join(shell, "tmp"), host]) {
      await mkdir(folder, { recursive: true });
    }
    await run("gcc", ["-Os", "-static", "-s", "-o", join(pause, "pause"), join(source, "pause.c")]);
    const images = join(into, "images");
    await writeArchive(join(images, "pause.tar"), { name: "localhost/pause:1", root: pause, entrypoint: ["/pause"] });
    const busybox = join(shell, "bin", "busybox");
    const usr = existsSync(join(into, "root", "bin", "busybox")) ? "bin" : "usr/bin";
    await copyFile(join(into, "root", usr, "busybox"), busybox);
    const applets = (await run(busybox, ["--list"])).split("\n").filter((name) => name !== "" && name !== "busybox");
    for (const applet of applets) await symlink("busybox", join(shell, "bin", applet));
    await writeFile(join(shell, "etc", "passwd"), "root:x:0:0:root:/root:/bin/sh\n");
    await writeFile(join(shell, "etc", "group"), "root:x:0:\n");
    await chmod(join(shell, "tmp"), 0o1777);
    await writeArchive(join(images, "busybox.tar"), { name: BUSYBOX, root: shell, entrypoint: ["/bin/sh"] });
    await rename(join(into, "agnhost"), join(host, "agnhost"));
    await writeArchive(join(images, "agnhost.tar"), { name: AGNHOST, root: host, entrypoint: ["/agnhost"] });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function goBuild(module: string, args: readonly string[], env: RunOptions["env"] = {}): Promise<void> {
  const small = args.includes("-ldflags") ? [] : ["-ldflags", "-s -w"];
  const options = { cwd: join(source, module), env: { CGO_ENABLED: "0", ...env } };
  await run("go", ["build", "-trimpath", ...small, ...args], options);
}
