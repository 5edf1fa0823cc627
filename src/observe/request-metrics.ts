/** Requests to the API server, counted as client-go does. */
import { NumberFamily, type Series } from "./series.ts";

export interface RequestMetrics {
  /** Counts an attempt by its HTTP method and its status code or `<error>`. */
  observe(method: string, code: string): void;
}

export class RequestFamily extends NumberFamily implements RequestMetrics {
  readonly #host: string;
  readonly #byMethod = new Map<string, Map<string, Series>>();

  constructor(host: string) {
    const help = "Number of HTTP requests, partitioned by status code, method, and host.";
    super({ name: "rest_client_requests_total", help }, "counter");
    this.#host = host;
  }

  observe(method: string, code: string): void {
    let byCode = this.#byMethod.get(method);
    if (byCode === undefined) this.#byMethod.set(method, (byCode = new Map()));
    let series = byCode.get(code);
    if (series === undefined) byCode.set(code, (series = this.series({ code, host: this.#host, method })));
    series.value++;
  }
}
