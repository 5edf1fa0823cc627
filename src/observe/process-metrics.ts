/** The process's own metrics, with Prometheus' usual names. */
import { readdirSync, readFileSync } from "node:fs";
import { ReadFamily, type ReadMetric } from "./series.ts";

/**
 * Every value is read together with the metrics; nothing runs in between. Values that the platform does not provide are
 * left out.
 */
export function processFamilies(eventLoopLag: () => number): ReadFamily[] {
  const metrics: readonly ReadMetric[] = [
    {
      name: "process_cpu_seconds_total",
      help: "Total user and system CPU time spent in seconds.",
      type: "counter",
      read: () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    },
    {
      name: "process_resident_memory_bytes",
      help: "Resident memory size in bytes.",
      read: () => process.memoryUsage.rss(),
    },
    { name: "process_virtual_memory_bytes", help: "Virtual memory size in bytes.", read: virtualMemory },
    {
      name: "process_start_time_seconds",
      help: "Start time of the process since unix epoch in seconds.",
      read: () => Math.round(Date.now() / 1000 - process.uptime()),
    },
    { name: "process_open_fds", help: "Number of open file descriptors.", read: openDescriptors },
    { name: "process_max_fds", help: "Maximum number of open file descriptors.", read: maxDescriptors },
    {
      name: "nodejs_heap_size_total_bytes",
      help: "Process heap size in bytes.",
      read: () => process.memoryUsage().heapTotal,
    },
    {
      name: "nodejs_heap_size_used_bytes",
      help: "Process heap size used in bytes.",
      read: () => process.memoryUsage().heapUsed,
    },
    { name: "nodejs_eventloop_lag_seconds", help: "Lag of event loop in seconds.", read: eventLoopLag },
  ];
  return metrics.map((metric) => new ReadFamily(metric));
}

/** Measures how long a turn of the event loop takes, in seconds. */
export function measureEventLoopLag(): Promise<number> {
  const start = performance.now();
  return new Promise((resolve) => setImmediate(() => resolve((performance.now() - start) / 1000)));
}

function virtualMemory(): number | undefined {
  const kib = procFile("status").match(/^VmSize:\s+(\d+) kB/m)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

function maxDescriptors(): number | undefined {
  const limit = procFile("limits").match(/^Max open files\s+(\d+)/m)?.[1];
  return limit === undefined ? undefined : Number(limit);
}

function openDescriptors(): number {
  // One of the descriptors belongs to the listing itself.
  return readdirSync("/proc/self/fd").length - 1;
}

/** Only Linux has these files. @throws on other systems */
function procFile(name: string): string {
  return readFileSync(`/proc/self/${name}`, "utf8");
}
