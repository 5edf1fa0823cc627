/** The alerts of an operator: each is about a fault that somebody has to look at. `docs/monitoring.md` tells what to do. */

export interface Alert {
  readonly name: string;
  readonly severity: "critical" | "warning";
  /** The condition in PromQL, about the series that the selector names. */
  readonly expr: (selector: string) => string;
  /** How long the condition must hold. @default at once, because the metric itself tells since when */
  readonly lasting?: string;
  readonly summary: string;
  /** What it means and what to do first, for people who have never seen the operator. */
  readonly description: string;
}

/** While the API server is silent, what follows from that is no fault of its own. */
const heard = (selector: string): string =>
  `unless on (namespace, job, instance) binnacle_api_server_silent_seconds{${selector}} > 0`;

export const ALERTS: readonly Alert[] = [
  {
    name: "BinnacleDown",
    severity: "critical",
    expr: (of) => `absent(up{${of}} == 1)`,
    lasting: "5m",
    summary: "No replica of the operator can be scraped.",
    description: "No replica runs, or its metrics cannot be reached: look at the pods and at their log.",
  },
  {
    name: "BinnacleNoLeader",
    severity: "critical",
    expr: (of) =>
      `max by (namespace, job, name) (leader_election_master_status{${of}}) == 0 ` +
      `or label_replace(sum by (namespace, job) (binnacle_shard_ratio{${of}}) < 0.999, "name", "shards", "", "")`,
    lasting: "2m",
    summary: "No replica leads {{ $labels.name }}, or no replica works a part of the keys.",
    description:
      "Nobody reconciles these keys: look at the holder of the Lease, and at the permission to write Leases.",
  },
  {
    name: "BinnacleApiServerSilent",
    severity: "critical",
    expr: (of) => `binnacle_api_server_silent_seconds{${of}} > 60`,
    summary: "The API server has not answered {{ $labels.pod }} for {{ $value | humanizeDuration }}.",
    description:
      "The replica is not ready until the API server answers: /readyz?verbose on its loopback has the last error.",
  },
  {
    name: "BinnacleModuleBroken",
    severity: "critical",
    expr: (of) => `binnacle_module_state{${of},state=~"broken|suspended"} == 1 ${heard(of)}`,
    lasting: "5m",
    summary: "The module {{ $labels.module }} is {{ $labels.state }}.",
    description: "It does not do its work: /readyz?verbose on the loopback of {{ $labels.pod }} says why.",
  },
  {
    name: "BinnacleModuleWaiting",
    severity: "warning",
    // A waiting module is unavailable for a moment whenever it looks for what it lacks.
    expr: (of) =>
      `max by (namespace, job, pod, instance, module) ` +
      `(binnacle_module_state{${of},state=~"waiting|unavailable|loading"}) == 1 ${heard(of)}`,
    lasting: "10m",
    summary: "The module {{ $labels.module }} has been waiting or unavailable for 10 minutes.",
    description:
      "It begins by itself once it has what it needs: /readyz?verbose on the loopback of {{ $labels.pod }} says what.",
  },
  {
    name: "BinnacleRunsFailing",
    severity: "warning",
    expr: (of) => `binnacle_queue_longest_failing_seconds{${of}} > 600`,
    lasting: "1m",
    summary: "A key of {{ $labels.controller }} has been failing for {{ $value | humanizeDuration }}.",
    description: "Its runs throw and are retried: the log has the error, and so has the object's event.",
  },
  {
    name: "BinnacleKeysParked",
    severity: "warning",
    expr: (of) => `binnacle_queue_parked{${of}} > 0`,
    lasting: "5m",
    summary: "{{ $value }} keys of {{ $labels.controller }} are parked.",
    description:
      "They are not retried until they change or somebody runs `binnacle retry`: the log says why each is parked.",
  },
  {
    name: "BinnacleRunStuck",
    severity: "warning",
    expr: (of) => `binnacle_controller_stuck_runs{${of}} > 0 or binnacle_daemons{${of},state="stuck"} > 0`,
    lasting: "5m",
    summary: "{{ $value }} runs of {{ $labels.controller }} are stuck.",
    description: "They were told to stop and have not ended, so their keys wait: /readyz?verbose names them.",
  },
  {
    name: "BinnacleInformerStalled",
    severity: "warning",
    // A new watch may bring no bookmark for two minutes. A silent watch is given up after four, and the list after it
    // counts as an event, so that lasting silence shows as high ages again and again.
    expr: (of) => `max_over_time(binnacle_informer_last_event_age_seconds{${of}}[5m]) > 150 ${heard(of)}`,
    lasting: "8m",
    summary:
      "The informer of {{ $labels.kind }} is stalled: its watches stay silent for up to {{ $value | humanizeDuration }}.",
    description:
      "API servers send a bookmark each minute: changes of {{ $labels.kind }} are seen minutes late, by lists.",
  },
  {
    name: "BinnacleWebhookErrors",
    severity: "warning",
    expr: (of) =>
      `sum by (namespace, job, webhook, operation) (increase(binnacle_webhook_admissions_total{${of},result="error"}[10m])) > 0`,
    summary: "The webhook {{ $labels.webhook }} fails at {{ $labels.operation }}.",
    description:
      "Its code threw or took too long, so requests of others were refused: the log line 'A webhook threw' has the stack.",
  },
  {
    name: "BinnacleConversionErrors",
    severity: "warning",
    expr: (of) =>
      `sum by (namespace, job) (increase(binnacle_conversion_reviews_total{${of},result="Failure"}[10m])) > 0`,
    summary: "Objects cannot be converted between versions.",
    description: "Reads and writes of these objects fail: the log names the object and the error.",
  },
  {
    name: "BinnacleWebhookNotRegistered",
    severity: "warning",
    expr: (of) => `increase(binnacle_webhook_registration_errors_total{${of}}[5m]) > 0 ${heard(of)}`,
    lasting: "5m",
    summary: "{{ $labels.pod }} cannot register its webhooks ({{ $labels.kind }}).",
    description: "The API server does not call them, or its calls fail: the log says why they cannot be registered.",
  },
  {
    name: "BinnacleCertificateExpires",
    severity: "warning",
    expr: (of) => `binnacle_webhook_certificate_expiry_timestamp_seconds{${of}} - time() < 7 * 24 * 3600`,
    lasting: "5m",
    summary: "The {{ $labels.certificate }} certificate of the webhooks ends in {{ $value | humanizeDuration }}.",
    description:
      "It should have been renewed long before: look at cert-manager, or at the Secret and the log of the operator.",
  },
  {
    name: "BinnacleMemoryNearLimit",
    severity: "warning",
    expr: (of) => `binnacle_memory_used_bytes{${of}} / binnacle_memory_limit_bytes{${of}} > 0.9`,
    lasting: "5m",
    summary: "{{ $labels.pod }} uses {{ $value | humanizePercentage }} of its memory.",
    description: "The kernel will end the process at the limit: the log names the largest informers; raise the limit.",
  },
];
