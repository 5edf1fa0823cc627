/** Packages that are loaded at their first use. The bundle of the package has them as CommonJS, which Node 20 can load synchronously. */
export { celLibrary, re2Library, yamlLibrary } from "../bun/lazy-packages.ts";
