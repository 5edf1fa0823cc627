/** Files that this process has loaded, with what they export. */

export interface LoadedFile {
  readonly file: string;
  readonly exports: readonly unknown[];
}
