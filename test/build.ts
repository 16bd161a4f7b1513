import { buildDist } from '../build.js';

/** Child processes of the tests run the built code, as users do. */
export default buildDist;
