import { buildDist, isBuilt } from '../build.js';

/** Child processes of the tests run the built code, as users do. */
export default async function build(): Promise<void> {
  if (!isBuilt()) await buildDist();
}
