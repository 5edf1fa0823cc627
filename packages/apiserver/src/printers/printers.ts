/** Prints tables of built-in kinds and of custom resources. */
import type { ColumnDefinition, Fields, KindRow, KubeObject, Printer } from "../hooks.ts";
import { goJson, goNumber } from "../field-error.ts";
import { isNumber } from "../numbers.ts";
import { age } from "./age.ts";
import { type Cell, name } from "./cell.ts";
import columnsText from "./columns.txt" with { type: "text" };
import { admissionCells } from "./admissionregistration/admission-cells.ts";
import { appsCells } from "./apps/apps-cells.ts";
import { autoscalingCells } from "./autoscaling/autoscaling-cells.ts";
import { batchCells } from "./batch/batch-cells.ts";
import { coreCells } from "./core/core-cells.ts";
import { networkingCells } from "./networking/networking-cells.ts";
import { otherCells } from "./other-cells.ts";
import { storageCells } from "./storage/storage-cells.ts";
import { jsonPath } from "./json-path.ts";

const cells: Readonly<Record<string, readonly Cell[]>> = {
  ...coreCells,
  ...appsCells,
  ...batchCells,
  ...autoscalingCells,
  ...networkingCells,
  ...storageCells,
  ...admissionCells,
  ...otherCells,
};
let columns: Readonly<Record<string, readonly ColumnDefinition[]>> | undefined;

const created: Cell = ({ metadata }) => metadata.creationTimestamp ?? "0001-01-01T00:00:00Z";

/** Returns the printer of a built-in kind. */
export function printerOf({ group, version, kind }: KindRow): Printer {
  columns ??= JSON.parse(columnsText) as Record<string, ColumnDefinition[]>;
  const definitions = columns[`${group === "" ? version : `${group}/${version}`}/${kind}`] ?? defaultColumns();
  const shown = cells[`${group}/${version}/${kind}`] ?? cells[`${group}/${kind}`] ?? [name, created];
  return {
    columns: definitions,
    cells: (object, now) => shown.map((cell) => cell(object, now)),
    ...(kind === "FlowSchema" && { order: byPrecedence }),
  };
}

/** Orders flow schemas by precedence: lower numbers first. */
function byPrecedence(one: KubeObject, other: KubeObject): number {
  const precedence = ({ spec }: KubeObject): number =>
    Number((spec as Fields | undefined)?.["matchingPrecedence"] ?? 0);
  return precedence(one) - precedence(other) || ((one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1);
}

function defaultColumns(): readonly ColumnDefinition[] {
  columns ??= JSON.parse(columnsText) as Record<string, ColumnDefinition[]>;
  const definitions = columns["v1/ConfigMap"] ?? [];
  return [definitions[0], definitions.at(-1)].flatMap((column) => column ?? []);
}

const scaleTexts = [
  ["replicas is the desired number of instances for the scaled object.", "Number of desired replicas"],
  ["replicas is the actual number of observed instances of the scaled object.", "Number of actual replicas"],
] as const;

/** Returns the printer of scales. @param ofCustom whether it is a custom object's */
export function scalePrinter(ofCustom: boolean): Printer {
  const [named, aged] = defaultColumns();
  const texts = scaleTexts.map((both) => both[ofCustom ? 1 : 0]);
  const numbers = ["Desired", "Available"].map((title, index) => ({
    name: title,
    type: "integer",
    format: "",
    description: texts[index] ?? "",
    priority: 0,
  }));
  const replicas =
    (part: string): Cell =>
    (object) =>
      Number((object[part] as Fields | undefined)?.["replicas"] ?? 0);
  const shown = [name, replicas("spec"), replicas("status"), created];
  return {
    columns: [
      ...(named ? [{ ...named, format: ofCustom ? named.format : "" }] : []),
      ...numbers,
      ...(aged ? [{ ...aged, type: ofCustom ? "date" : "string" }] : []),
    ],
    cells: ({ ...object }, now) =>
      shown.map((cell) => (cell === created ? age(object.metadata.creationTimestamp, now) : cell(object, now))),
  };
}

/** Returns the printer of custom resources, from the `additionalPrinterColumns` of their version. */
export function customPrinter(additional: readonly Fields[]): Printer {
  columns ??= JSON.parse(columnsText) as Record<string, ColumnDefinition[]>;
  const first = columns["v1/ConfigMap"]?.[0];
  const age: Fields = { ...ageColumn, description: columns["v1/ConfigMap"]?.at(-1)?.description };
  const given = additional.length > 0 ? additional : [age];
  const definitions = given.map((column) => ({
    name: String(column["name"]),
    type: String(column["type"]),
    format: String(column["format"] ?? ""),
    description:
      typeof column["description"] === "string" && column["description"] !== ""
        ? column["description"]
        : `Custom resource definition column (in JSONPath format): ${String(column["jsonPath"])}`,
    priority: Number(column["priority"] ?? 0),
  }));
  const readers = given.map((column) => customCell(column));
  return {
    columns: [...(first ? [first] : []), ...definitions],
    cells: (object, now) => [object.metadata.name ?? "", ...readers.map((read) => read(object, now))],
  };
}

const ageColumn: Fields = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
};

function customCell(column: Fields): Cell {
  const path = jsonPath(String(column["jsonPath"]));
  const { type } = column;
  return (object, now) => {
    const [value, ...more] = path(object);
    if (value === undefined || value === null) return null;
    switch (type) {
      case "date":
        return typeof value === "string" && Number.isNaN(Date.parse(value)) ? "<invalid>" : age(value, now);
      case "integer":
        return typeof value === "number" ? Math.trunc(value) : typeof value === "bigint" ? value : null;
      case "number":
        return isNumber(value) ? Number(value) : null;
      case "boolean":
        return typeof value === "boolean" ? value : null;
      default:
        return [value, ...more].map(plain).join(" ");
    }
  };
}

function plain(value: unknown): string {
  return typeof value === "object" ? goJson(value) : isNumber(value) ? goNumber(value) : String(value);
}
