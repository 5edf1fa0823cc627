/** A file embedded with `with { type: "file" }`: its path. */
declare module "*.zst" {
  const path: string;
  export default path;
}
