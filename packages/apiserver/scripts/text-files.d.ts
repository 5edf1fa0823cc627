/** Files whose text the bundler puts in. */
declare module "*.txt" {
  const text: string;
  export default text;
}
