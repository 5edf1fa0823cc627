/** Knows the names of time zones. */

/** Time zones are names of files, so their case matters. */
export function isZone(name: string): boolean {
  try {
    const { timeZone: found } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return found === name || found.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
