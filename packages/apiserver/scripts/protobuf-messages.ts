/** The messages of Kubernetes' protobuf form, from the `.proto` files of the Go modules of `scripts/controlplane`. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const modules = ["k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator"];
/** Versions that the server does not serve by default. */
const unserved = /v\d+(?:alpha|beta)\d+|imagepolicy|testapigroup|internal/;

type Field = readonly [number: number, name: string, type: string, repeated?: 1];

export function protobufMessages(): string {
  const messages: Record<string, Field[]> = {};
  for (const module of modules) {
    const folder = execFileSync("go", ["list", "-m", "-f", "{{.Dir}}", module], {
      cwd: join(import.meta.dirname, "../../../scripts/controlplane"),
      encoding: "utf8",
    }).trim();
    for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith("generated.proto") || unserved.test(file)) continue;
      Object.assign(messages, messagesOf(readFileSync(join(folder, file), "utf8")));
    }
  }
  const lines = Object.entries(messages)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, fields]) => `${JSON.stringify(name)}:${JSON.stringify(fields)}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

/** Reads a `.proto` file. */
function messagesOf(text: string): Record<string, Field[]> {
  const messages: Record<string, Field[]> = {};
  const name = /^package (.*);$/m.exec(text)?.[1] ?? "";
  let message: Field[] | undefined;
  for (const line of text.split("\n")) {
    const opened = /^message (\w+) \{/.exec(line)?.[1];
    if (opened !== undefined) messages[`${name}.${opened}`] = message = [];
    const field = /^ {2}(optional|repeated|map<\w+, ([\w.]+)>) ?([\w.]*) (\w+) = (\d+);/.exec(line);
    if (field === null || message === undefined) continue;
    const [, label = "", inMap, type = "", fieldName = "", number] = field;
    const resolved = resolve(inMap ?? type, name);
    if (inMap !== undefined) message.push([Number(number), fieldName, `<${resolved}`]);
    else if (label === "repeated") message.push([Number(number), fieldName, resolved, 1]);
    else message.push([Number(number), fieldName, resolved]);
  }
  return messages;
}

/** A leading dot marks the full name of a message. */
function resolve(type: string, within: string): string {
  if (/^(string|bytes|bool|int32|int64|uint32|uint64|double|float|fixed64)$/.test(type)) return type;
  return type.includes(".") ? type.replace(/^\./, "") : `${within}.${type}`;
}
