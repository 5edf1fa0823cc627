/** The parts of `binnacle build`: modules, executables, images and registries. */
export { BuildError } from "./build-error.ts";
export { buildExecutable } from "./build-executable.ts";
export { buildProgramImage } from "./build-image.ts";
export { hostTarget, parseTarget, type Target, targets } from "./executable/targets.ts";
export { writeArchive, writeLayout, writeSbom } from "./image/archive.ts";
export type { BaseImage } from "./image/image.ts";
export { libcOf } from "./image/base-libc.ts";
export { isNative, packagesOfFiles, projectOf } from "./modules/installed-packages.ts";
export { labelsOf } from "./image/labels.ts";
export { fullName, parseReference, type Reference } from "./image/reference.ts";
export { mebibytes, Progress } from "./progress.ts";
export { credentialsFor } from "./registry/docker-config.ts";
export { pullImage } from "./registry/pull.ts";
export { pushImage } from "./registry/push.ts";
export { createdAt } from "./build-image.ts";
export { markUsed, pruneUnused } from "./unused.ts";
