/** Reads from scrapes which metrics there are, and which labels they have. */

/** @returns for each metric the labels of its series, or that it has none yet. */
export function labelsPublished(texts: readonly string[]): ReadonlyMap<string, ReadonlySet<string> | "no series yet"> {
  const published = new Map<string, Set<string> | "no series yet">();
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    const [, named] = /^# TYPE (\S+) /.exec(line) ?? [];
    if (named !== undefined && !published.has(named)) published.set(named, "no series yet");
    const [, metric, labels = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric === undefined) continue;
    const before = published.get(metric);
    const all = before === undefined || before === "no series yet" ? new Set<string>() : before;
    for (const [, label] of labels.matchAll(/(?:^|,)(\w+)="/g)) all.add(label!);
    published.set(metric, all);
  }
  return published;
}
