/** Formats a time in milliseconds as RFC 3339 in whole seconds, as in metadata. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
