declare module "parse-prometheus-text-format" {
  export interface ParsedMetric {
    readonly labels?: Readonly<Record<string, string>>;
    readonly value?: string;
    readonly buckets?: Readonly<Record<string, string>>;
  }

  export interface ParsedFamily {
    readonly name: string;
    readonly help: string;
    readonly type: "COUNTER" | "GAUGE" | "HISTOGRAM" | "SUMMARY" | "UNTYPED";
    readonly metrics: readonly ParsedMetric[];
  }

  export default function parse(text: string): ParsedFamily[];
}
