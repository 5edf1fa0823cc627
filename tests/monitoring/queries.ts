/** Reads from PromQL which metrics it is about, and which labels it asks of them. */

const SELECTOR = /\b([a-zA-Z_:][\w:]*)\{([^}]*)\}/g;
const GROUPING = /\b(?:by|on) \(([^)]*)\)/g;

/** Returns the metrics of a query, which all have a selector in braces, with the labels that select. */
export function metricsIn(expr: string): ReadonlyMap<string, readonly string[]> {
  const metrics = new Map<string, readonly string[]>();
  for (const [, metric, selector] of expr.matchAll(SELECTOR)) {
    const labels = [...(selector ?? "").matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label]) => label!);
    metrics.set(metric!, [...(metrics.get(metric!) ?? []), ...labels]);
  }
  return metrics;
}

/** Returns the labels by which a query groups. */
export function groupingOf(expr: string): readonly string[] {
  return [...expr.matchAll(GROUPING)].flatMap(([, labels]) => labels!.split(/,\s*/));
}
