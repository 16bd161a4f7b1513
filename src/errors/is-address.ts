/** True for `s3://bucket/lake` and the like, where a folder may be meant. */
export function isAddress(path: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
}
