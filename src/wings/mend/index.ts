import type { Wing } from '../wing.js';
import { mendLanding } from './mend-landing.js';

/** Checks the files that an unfinished run has downloaded. Altered files are downloaded again. */
export const mend: Wing = { mendLanding };
