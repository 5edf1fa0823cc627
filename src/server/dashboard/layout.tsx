/** @jsxImportSource hono/jsx */
/** The frame of every page. */
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import { browserScript } from "./browser-script.ts";
import { style } from "./style.ts";

/** The pages in the order of the navigation; each has a key that opens it. */
export const pages = [
  { path: "/", title: "Overview", key: "1" },
  { path: "/objects", title: "Objects", key: "2" },
  { path: "/keys", title: "Keys", key: "3" },
  { path: "/runs", title: "Runs", key: "4" },
  { path: "/modules", title: "Modules", key: "5" },
  { path: "/informers", title: "Informers", key: "6" },
  { path: "/log", title: "Log", key: "7" },
  { path: "/process", title: "Process", key: "8" },
] as const;

export type PagePath = (typeof pages)[number]["path"];

export interface LayoutProps {
  readonly path: PagePath;
  readonly title: string;
  /** The name of the process. */
  readonly replica: string;
  /** Allows the style and the script of this response, and no other. */
  readonly nonce: string;
  readonly children?: Child;
}

export function Layout({ path, title, replica, nonce, children }: LayoutProps): Child {
  return (
    <>
      {raw("<!doctype html>")}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>{`${title} · ${replica} · binnacle`}</title>
          <link rel="icon" href="data:," />
          <style nonce={nonce}>{raw(style)}</style>
        </head>
        <body>
          <header>
            <strong>binnacle</strong>
            <nav aria-label="Pages">
              <ul>
                {pages.map((page) => (
                  <li>
                    <a
                      href={page.path}
                      data-key={page.key}
                      title={`Key ${page.key}`}
                      aria-current={page.path === path ? "page" : undefined}
                    >
                      {page.title}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
            <span class="connection" role="status">
              connecting
            </span>
          </header>
          <main>
            <h1>{title}</h1>
            {children}
            <p id="no-token" class="card notice" hidden>
              Buttons are off: open the page with the address that <code>binnacle dashboard</code> prints, which has the
              token of this process.
            </p>
          </main>
          <p id="toast" role="alert" hidden></p>
          <script nonce={nonce}>{raw(browserScript)}</script>
        </body>
      </html>
    </>
  );
}
