/** The regular expression by which Ginkgo runs exactly these specs: it looks for it in their names, after that of the suite. */
export function focusOn(names: readonly string[]): string {
  const literals = names.map((name) => name.replace(/ #\d+$/, "").replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return `(^| )(${literals.join("|")})$`;
}
