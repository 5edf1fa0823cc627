/** Puts an image together: configuration and manifest for each platform, and an index over them. */
import { type Blob, type Descriptor, jsonBlob, mediaTypes, type Platform } from "./blob.ts";
import type { Layer } from "./layer.ts";
import type { Reference } from "./reference.ts";

/** Nobody: the user that distroless images call `nonroot`. */
export const USER = 65_532;
/** The path of the binary in an image. */
export const BINARY_PATH = "usr/local/bin/binnacle";
/** The program of an image, and what it needs around it. */
export interface ImageProgram {
  /** The beginning of the command line, also for a container that is started with arguments of its own. */
  readonly entrypoint: readonly string[];
  /** The default arguments, which those of a container replace. */
  readonly command: readonly string[];
  readonly ports: readonly number[];
  /** The folders to which the program writes. */
  readonly folders: readonly string[];
}

/** The folder of the modules in an image. */
export const MODULES_PATH = "controllers";

/** @see https://github.com/opencontainers/image-spec/blob/main/config.md */
export interface ImageConfig {
  readonly created?: string;
  readonly architecture: string;
  readonly os: string;
  readonly variant?: string;
  readonly config?: {
    readonly User?: string;
    readonly Env?: readonly string[];
    readonly Entrypoint?: readonly string[];
    readonly Cmd?: readonly string[];
    readonly WorkingDir?: string;
    readonly Labels?: Readonly<Record<string, string>>;
    readonly ExposedPorts?: Readonly<Record<string, object>>;
  };
  readonly rootfs: { readonly type: "layers"; readonly diff_ids: readonly string[] };
  readonly history?: readonly HistoryEntry[];
}

interface HistoryEntry {
  readonly created?: string;
  readonly created_by?: string;
  readonly comment?: string;
  readonly empty_layer?: boolean;
}

/** The image that another one is built on. */
export interface BaseImage {
  readonly config: ImageConfig;
  readonly layers: readonly Blob[];
}

const controllersProgram: ImageProgram = {
  entrypoint: [],
  command: ["run", `--controllers=/${MODULES_PATH}`],
  ports: [8080, 8081, 9443],
  folders: [],
};

/** Where kubeadm has the kubeconfig of the administrator, too. */
const KUBECONFIG_FOLDER = "etc/kubernetes";

/** The API server alone: only who has the kubeconfig gets in. */
export const serverProgram: ImageProgram = {
  entrypoint: [
    "apiserver",
    "--bind-address=0.0.0.0:6443",
    "--allow-remote",
    `--write-kubeconfig=/${KUBECONFIG_FOLDER}/admin.conf`,
  ],
  command: [],
  ports: [6443],
  folders: [KUBECONFIG_FOLDER],
};

export interface PlatformParts {
  readonly platform: Platform;
  /** @default nothing */
  readonly base?: BaseImage | undefined;
  /** The layers after those of the base, from the one that changes least to the one that changes most. */
  readonly layers: readonly Layer[];
}

export interface ImageOptions {
  readonly reference: Reference;
  /** @default that of controllers */
  readonly program?: ImageProgram | undefined;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Labels of the configuration, which are also the annotations of manifests and index. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface PlatformImage {
  readonly platform: Platform;
  readonly config: Blob;
  readonly manifest: Blob;
  readonly layers: readonly Blob[];
}

export interface BuiltImage {
  readonly reference: Reference;
  readonly platforms: readonly PlatformImage[];
  /** The index, or the manifest of an image for one platform. */
  readonly root: Blob;
  /** All blobs, each once, and each after those to which it refers. */
  readonly blobs: readonly Blob[];
}

export function buildImage(parts: readonly PlatformParts[], options: ImageOptions): BuiltImage {
  const platforms = parts.map((one) => platformImage(one, options));
  const [only] = platforms;
  const root = platforms.length === 1 ? only!.manifest : indexOf(platforms, options);
  const all = [...platforms.flatMap(({ config, manifest, layers }) => [...layers, config, manifest]), root];
  return {
    reference: options.reference,
    platforms,
    root,
    blobs: [...new Map(all.map((blob) => [blob.descriptor.digest, blob])).values()],
  };
}

function platformImage(
  { platform, base, layers }: PlatformParts,
  { program = controllersProgram, created, labels }: ImageOptions,
): PlatformImage {
  const time = new Date(created).toISOString();
  const { config: { config: inherited = {}, rootfs, history = [] } = {} } = base ?? {};
  const document: ImageConfig = {
    created: time,
    ...platform,
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: Object.fromEntries(program.ports.map((port) => [`${port}/tcp`, {}])),
      Env: environment(inherited.Env ?? []),
      Entrypoint: [`/${BINARY_PATH}`, ...program.entrypoint],
      Cmd: program.command,
      WorkingDir: "/",
      Labels: { ...inherited.Labels, ...labels },
    },
    rootfs: { type: "layers", diff_ids: [...(rootfs?.diff_ids ?? []), ...layers.map(({ diffId }) => diffId)] },
    history: [...history, ...layers.map(({ createdBy }) => ({ created: time, created_by: createdBy }))],
  };
  const config = jsonBlob(mediaTypes.config, document);
  const all = [...(base?.layers ?? []), ...layers];
  const manifest = jsonBlob(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: config.descriptor,
    layers: all.map(({ descriptor: { mediaType, digest, size } }) => ({ mediaType, digest, size })),
    annotations: labels,
  });
  return {
    platform,
    config,
    manifest: { ...manifest, descriptor: { ...manifest.descriptor, platform } },
    layers: all,
  };
}

/** Returns the environment of the base, with a search path if it has none. */
function environment(inherited: readonly string[]): readonly string[] {
  return inherited.some((entry) => entry.startsWith("PATH="))
    ? inherited
    : ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...inherited];
}

function indexOf(platforms: readonly PlatformImage[], { labels }: ImageOptions): Blob {
  return jsonBlob(mediaTypes.index, {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: platforms.map(({ manifest: { descriptor } }): Descriptor => descriptor),
    annotations: labels,
  });
}
