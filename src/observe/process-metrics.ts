/** The process's own metrics, with Prometheus' usual names. */
import { readdirSync, readFileSync } from "node:fs";
import { ReadFamily } from "./series.ts";

const NO_LABELS = {};

/** Everything here is read together with the metrics; nothing runs in between. */
export function processFamilies(eventLoopLag: () => number): ReadFamily[] {
  return [
    one(
      { name: "process_cpu_seconds_total", help: "Total user and system CPU time spent in seconds.", type: "counter" },
      () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    ),
    one({ name: "process_resident_memory_bytes", help: "Resident memory size in bytes." }, () =>
      process.memoryUsage.rss(),
    ),
    one({ name: "process_virtual_memory_bytes", help: "Virtual memory size in bytes." }, virtualMemory),
    one({ name: "process_start_time_seconds", help: "Start time of the process since unix epoch in seconds." }, () =>
      Math.round(Date.now() / 1000 - process.uptime()),
    ),
    one({ name: "process_open_fds", help: "Number of open file descriptors." }, openDescriptors),
    one({ name: "process_max_fds", help: "Maximum number of open file descriptors." }, maxDescriptors),
    one(
      { name: "nodejs_heap_size_total_bytes", help: "Process heap size in bytes." },
      () => process.memoryUsage().heapTotal,
    ),
    one(
      { name: "nodejs_heap_size_used_bytes", help: "Process heap size used in bytes." },
      () => process.memoryUsage().heapUsed,
    ),
    one({ name: "nodejs_eventloop_lag_seconds", help: "Lag of event loop in seconds." }, eventLoopLag),
  ];
}

/** Measures how long a turn of the event loop takes, in seconds. */
export function measureEventLoopLag(): Promise<number> {
  const start = performance.now();
  return new Promise((resolve) => setImmediate(() => resolve((performance.now() - start) / 1000)));
}

/** A metric that the platform does not provide is left out. */
function one(
  info: { readonly name: string; readonly help: string; readonly type?: "counter" | "gauge" },
  read: () => number | undefined,
): ReadFamily {
  return new ReadFamily(info, () => {
    const value = read();
    return value === undefined ? [] : [{ labels: NO_LABELS, value }];
  });
}

function virtualMemory(): number | undefined {
  const kib = procFile("status")?.match(/^VmSize:\s+(\d+) kB/m)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

function maxDescriptors(): number | undefined {
  const limit = procFile("limits")?.match(/^Max open files\s+(\d+)/m)?.[1];
  return limit === undefined ? undefined : Number(limit);
}

function openDescriptors(): number | undefined {
  try {
    // One of them belongs to the listing itself.
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    return undefined;
  }
}

/** Only Linux has these files. */
function procFile(name: string): string | undefined {
  try {
    return readFileSync(`/proc/self/${name}`, "utf8");
  } catch {
    return undefined;
  }
}
