/** The header of a request for a page without its frame. */
export const PART = "binnacle-part";

/**
 * What runs in the browser. The server renders everything; this script asks for the page again when something has
 * happened and replaces the parts that are marked as live, sends actions with the token, and appends lines of the log.
 */
export const browserScript: string = /* js */ `
"use strict";
const REFRESH_MS = 1000;
const storage = "binnacle-token:" + location.host;
async function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const ticket = fragment.get("ticket");
  if (ticket === null && !fragment.has("token")) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (ticket === null) return sessionStorage.setItem(storage, fragment.get("token"));
  const response = await fetch("/debug/token", { method: "POST", headers: { authorization: "Ticket " + ticket } });
  const answer = await response.json();
  if (!response.ok) return toast(answer.error, true);
  sessionStorage.setItem(storage, answer.token);
  showActions(document);
}
void takeToken();
// Somebody has opened the printed address where the page was open already.
addEventListener("hashchange", async () => { await takeToken(); showActions(document); });
const token = () => sessionStorage.getItem(storage);
const connection = document.querySelector(".connection");

/** Actions need the token, which only the address that the terminal prints has. */
function showActions(root) {
  for (const control of root.querySelectorAll("[data-action]")) {
    control.disabled = token() === null;
    if (control.disabled) control.title = "Open the page with the address that binnacle dashboard prints";
    else control.removeAttribute("title");
  }
  const help = document.querySelector("#no-token");
  help.hidden = token() !== null || document.querySelector("[data-action]") === null;
}

let toastTimer;
function toast(text, isBad) {
  const box = document.querySelector("#toast");
  box.textContent = text;
  box.className = "toast card notice " + (isBad ? "bad" : "good");
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.hidden = true; }, 6000);
}

async function act(button) {
  const { action, body, done } = button.dataset;
  button.disabled = true;
  try {
    const response = await fetch(action, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer " + token() },
      body,
    });
    const answer = await response.json();
    if (response.status === 401) sessionStorage.removeItem(storage);
    toast(response.ok ? done : answer.error, !response.ok);
  } catch {
    toast("The process does not answer.", true);
  }
  showActions(document);
  refresh();
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-action]");
  if (button !== null) void act(button);
});
document.addEventListener("change", (event) => {
  const { form } = event.target;
  if (event.target.dataset.action !== undefined) {
    const [module, level] = [event.target.dataset.module, event.target.value];
    event.target.dataset.body = JSON.stringify({ module, level: level === "default" ? null : level });
    void act(event.target);
  } else if (form?.classList.contains("filters") && event.target.tagName === "SELECT") form.requestSubmit();
});

/** What somebody reads or uses is not replaced under their hands. */
function isInUse(element) {
  const selection = getSelection();
  if (selection !== null && !selection.isCollapsed && element.contains(selection.anchorNode)) return true;
  const active = document.activeElement;
  return active !== null && element.contains(active) && ["INPUT", "SELECT"].includes(active.tagName);
}

function replace(element, next) {
  showActions(next);
  if (element.innerHTML === next.innerHTML || isInUse(element)) return;
  const open = new Set([...element.querySelectorAll("details[open]")].map(({ id }) => id));
  const active = element.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolls = [...element.querySelectorAll(".scroll")].map(({ scrollLeft }) => scrollLeft);
  element.replaceChildren(...next.childNodes);
  for (const details of element.querySelectorAll("details")) if (open.has(details.id)) details.open = true;
  element.querySelectorAll(".scroll").forEach((one, index) => { one.scrollLeft = scrolls[index] ?? 0; });
  if (active !== "") document.getElementById(active)?.focus();
}

let isRefreshing = false;
let isDue = false;
async function refresh() {
  isDue = true;
  if (isRefreshing || document.querySelector("[data-live]") === null) return;
  isRefreshing = true;
  while (isDue) {
    isDue = false;
    try {
      const response = await fetch(location.href, { headers: { "${PART}": "main" } });
      const next = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const element of document.querySelectorAll("[data-live]")) {
        const other = next.getElementById(element.id);
        if (other !== null) replace(element, other);
      }
    } catch {
      // The event stream tells when the process is there again.
    }
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  }
  isRefreshing = false;
}

function connected(is) {
  connection.textContent = is ? "live" : "the process does not answer";
  connection.classList.toggle("lost", !is);
}
const stream = new EventSource("/debug/stream");
stream.addEventListener("open", () => connected(true));
stream.addEventListener("error", () => connected(false));
stream.addEventListener("overview", () => refresh());
stream.addEventListener("run", () => refresh());

const fieldText = (value) =>
  typeof value === "string" ? value : value?.stack === undefined ? JSON.stringify(value) : value.name + ": " + value.message;

function stackDetails(stack) {
  const details = document.createElement("details");
  const [summary, text] = [document.createElement("summary"), document.createElement("pre")];
  summary.textContent = "stack";
  text.textContent = stack;
  details.append(summary, text);
  return details;
}

const log = document.querySelector("ol.log[data-source]");
if (log !== null) {
  const MOST = 1000;
  const lines = new EventSource(log.dataset.source);
  lines.addEventListener("open", () => log.replaceChildren());
  lines.addEventListener("line", ({ data }) => {
    const { at, level, message, fields } = JSON.parse(data);
    const item = document.createElement("li");
    item.className = "mono " + level;
    const time = new Date(at).toLocaleTimeString([], { hour12: false });
    const { module, controller, key, ...rest } = fields;
    const where = [controller ?? module, key].filter((one) => one !== undefined).join(" ");
    const stacks = Object.values(rest).flatMap((value) => value?.stack ?? []);
    const more = Object.entries(rest).map(([name, value]) => " " + name + "=" + fieldText(value));
    item.textContent = time + " " + level.toUpperCase().padEnd(5) + " " + (where === "" ? "" : where + ": ") + message + more.join("");
    for (const stack of stacks) item.append(stackDetails(stack));
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    log.append(item);
    while (log.childElementCount > MOST) log.firstElementChild.remove();
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
  const link = document.querySelector('nav a[data-key="' + CSS.escape(event.key) + '"]');
  if (link !== null) link.click();
  else if (event.key === "/") {
    const field = document.querySelector("form.filters input");
    if (field === null) return;
    field.closest("details")?.setAttribute("open", "");
    event.preventDefault();
    field.focus();
  }
});
showActions(document);
`;
