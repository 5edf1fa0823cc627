/** The options of `binnacle build`. */
import type { ValuesOf } from "../settings/option.ts";
import { controllersOption } from "./shared-options.ts";

const options = [
  {
    name: "target",
    type: "list",
    describe:
      "What to build for, such as linux-x64, linux-arm64-musl or darwin-arm64; repeatable; this machine when left out",
  },
  { name: "name", type: "string", describe: "Name of the executable; that of the project when left out" },
  {
    name: "output",
    type: "string",
    describe: "File of the executable, else dist/NAME; of an image a .tar file or a folder, else it is pushed",
  },
  {
    name: "external",
    type: "boolean",
    default: false,
    describe: "Leave the modules outside: what is built runs those of a folder",
  },
  {
    name: "apiserver",
    type: "boolean",
    default: false,
    describe: "image: of the API server alone, as a container for tests, instead of controllers",
  },
  { name: "image", type: "string", describe: "Build an image of this name, such as ghcr.io/team/guestbook:1" },
  {
    name: "base",
    type: "string",
    describe: "image: build on this image; else on nothing but the libraries of this machine that the binary needs",
  },
  { name: "label", type: "list", describe: "image: label and annotation, such as team=apps; repeatable" },
  {
    name: "sbom",
    type: "string",
    describe: "image: also write the bill of materials to this file, as CycloneDX JSON",
  },
  {
    name: "compression",
    type: "string",
    default: "gzip",
    choices: ["gzip", "zstd"],
    describe: "image: gzip, which everything reads, or zstd, which is faster",
  },
  {
    name: "plain-http",
    type: "boolean",
    default: false,
    describe: "image: talk to registries without TLS; those on this machine need not be told",
  },
] as const;

export const buildOptions: readonly [typeof controllersOption, ...typeof options] = [controllersOption, ...options];

export type BuildValues = ValuesOf<typeof buildOptions>;
