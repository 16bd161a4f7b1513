import { buildDist, isBuilt } from '../build.js';

/** Child processes in tests run the built code, like users do. */
export default async function build(): Promise<void> {
  if (!isBuilt()) await buildDist();
}
