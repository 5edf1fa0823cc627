/** The version of the contract between modules and the binary: definitions and handles carry it. */

export const CONTRACT_VERSION = 1;

/**
 * Returns the message for an object of another version of the SDK. @param what the kind of object, such as `a
 * definition`.
 */
export function versionSkew(what: string, version: unknown): string {
  const isNewer = typeof version === "number" && version > CONTRACT_VERSION;
  const advice = isNewer
    ? "use a newer binnacle"
    : "import its SDK from 'binnacle' instead of a copy that a package has bundled, or update that package";
  return `Cannot use ${what} of contract version ${String(version)}: this binnacle has ${CONTRACT_VERSION}; ${advice}`;
}
