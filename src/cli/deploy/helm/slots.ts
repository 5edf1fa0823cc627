/** Manifests with places for the values of a chart: YAML first, then templates in the place of marks. */
import { visit } from "yaml";
import { commentedDocument } from "../../rule-comments.ts";

/** What a line with a mark becomes: its indentation, what stands before the mark, such as `replicas: ` or `- `, and the key alone. */
type Render = (line: { readonly indent: string; readonly before: string }) => string;

/** The account of a plan for a chart: whoever installs it says both. */
export const RELEASE = { namespace: "release-namespace-mark", name: "release-name-mark" } as const;
/** One of the namespaces in `values`, inside a loop over them. */
export const EACH_NAMESPACE = "each-namespace-mark";

const NAMES: Readonly<Record<string, string>> = {
  [RELEASE.namespace]: "{{ $.Release.Namespace }}",
  [RELEASE.name]: "{{ $.Release.Name }}",
  [EACH_NAMESPACE]: "{{ . }}",
};
const HAS_NAME = new RegExp(Object.keys(NAMES).join("|"));
const MANAGED_BY = "app.kubernetes.io/managed-by: ";
const MARK = /^( *)([^\n]*?)template-mark-(\d+)$/gm;

/** Makes marks, and later puts templates in their places. */
export class Slots {
  readonly #renders: Render[] = [];

  /** The line's value is what an expression gives. */
  value(expression: string): string {
    return this.#mark(({ indent, before }) => `${indent}${before}{{ ${expression} }}`);
  }

  /** The line's value is a list or a map of `values`. */
  block(expression: string): string {
    return this.#mark(
      ({ indent, before }) =>
        `${indent}${before.trimEnd()}\n${indent}  {{- toYaml ${expression} | nindent ${indent.length + 2} }}`,
    );
  }

  /** As a block; without a line where it is empty. */
  optional(expression: string): string {
    return this.#mark(({ indent, before }) =>
      [
        `${indent}{{- with ${expression} }}`,
        `${indent}${before.trimEnd()}`,
        `${indent}  {{- toYaml . | nindent ${indent.length + 2} }}`,
        `${indent}{{- end }}`,
      ].join("\n"),
    );
  }

  /** More entries of the list or map that the mark stands in. */
  spread(expression: string): string {
    return this.#mark(({ indent }) =>
      [
        `${indent}{{- with ${expression} }}`,
        `${indent}{{- toYaml . | nindent ${indent.length} }}`,
        `${indent}{{- end }}`,
      ].join("\n"),
    );
  }

  /** These lines, at the place of the mark's own. */
  lines(...lines: readonly string[]): string {
    return this.#mark(({ indent }) => lines.map((line) => `${indent}${line}`).join("\n"));
  }

  /** A document of a template. */
  render(manifest: object): string {
    const document = commentedDocument(manifest);
    visit(document, {
      Scalar(_, node) {
        // A release may be called 123.
        if (typeof node.value === "string" && HAS_NAME.test(node.value)) node.type = "QUOTE_DOUBLE";
      },
    });
    let text = literal(document.toString({ lineWidth: 0 }));
    text = text.replace(MARK, (_, indent: string, before: string, number: string) =>
      this.#renders[Number(number)]!({ indent, before }),
    );
    for (const [mark, expression] of Object.entries(NAMES)) text = text.replaceAll(mark, expression);
    // What Helm installs, Helm manages.
    return `---\n${text.replaceAll(`${MANAGED_BY}binnacle`, `${MANAGED_BY}{{ $.Release.Service }}`)}`;
  }

  #mark(render: Render): string {
    return `template-mark-${this.#renders.push(render) - 1}`;
  }
}

/** Text that Helm takes as it is. */
export function literal(text: string): string {
  return text.replaceAll("{{", '{{ "{{" }}');
}
