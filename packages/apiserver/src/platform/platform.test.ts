/** Both runtimes implement the same parts: `#platform/<part>` is in a file of each, with the same exports. */
import { expect, expectTypeOf, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type * as bunDatabase from "./bun/database.ts";
import type * as bunEquality from "./bun/equality.ts";
import type * as bunHttpServer from "./bun/http-server.ts";
import type * as bunLazyPackages from "./bun/lazy-packages.ts";
import type * as bunPost from "./bun/post.ts";
import type * as denoDatabase from "./deno/database.ts";
import type * as denoEquality from "./deno/equality.ts";
import type * as denoHttpServer from "./deno/http-server.ts";
import type * as denoLazyPackages from "./deno/lazy-packages.ts";
import type * as denoPost from "./deno/post.ts";

test("each part is there for both runtimes, with the same exports", () => {
  const [bun, deno] = ["bun", "deno"].map((runtime) => readdirSync(join(import.meta.dirname, runtime)).sort());
  expect(bun).toEqual(deno);
  expectTypeOf<typeof bunDatabase>().toEqualTypeOf<typeof denoDatabase>();
  expectTypeOf<typeof bunEquality>().toEqualTypeOf<typeof denoEquality>();
  expectTypeOf<typeof bunHttpServer>().toEqualTypeOf<typeof denoHttpServer>();
  expectTypeOf<typeof bunLazyPackages>().toEqualTypeOf<typeof denoLazyPackages>();
  expectTypeOf<typeof bunPost>().toEqualTypeOf<typeof denoPost>();
});
