/** `/metrics`, for Prometheus. */
import { Hono } from "hono";
import type { Metrics } from "../observe/metrics.ts";
import { refuseMisdirected } from "./web-guard.ts";

/** Serves Prometheus text, or OpenMetrics if the scraper prefers it. */
export function metricsApp(metrics: Pick<Metrics, "text">): Hono {
  const app = new Hono({ strict: false });
  app.use("/metrics", refuseMisdirected);
  app.get("/metrics", async (context) => {
    const { body, contentType } = await metrics.text(context.req.header("Accept"));
    return context.body(body, 200, { "Content-Type": contentType });
  });
  return app;
}
