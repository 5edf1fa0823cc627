/** A request to a webhook, whose server is verified by an authority and a name of its own. */

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Certificates (PEM) that sign the server's certificate. @default those of the system */
  readonly ca: string | undefined;
  /** The name that the server's certificate must carry. */
  readonly serverName: string;
}
