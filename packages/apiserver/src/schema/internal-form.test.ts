import { expect, test } from "bun:test";
import { builtInSchema } from "../tables/tables.ts";
import { internalForm } from "./internal-form.ts";

const service = builtInSchema({ group: "", version: "v1", kind: "Service" })!;
const port = service.properties!.get("spec")!.properties!.get("ports")!.items!;

test("internalForm names fields as Go does, in its order, and writes out what is empty", () => {
  expect(JSON.stringify(internalForm(port, { port: 80, name: "web" }))).toBe(
    '{"Name":"web","Protocol":"","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
  );
});
