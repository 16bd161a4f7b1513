import type { Wing } from '../wing.js';
import { mendLanding } from './mend-landing.js';

/** Downloads files of an unfinished run again if they have changed on disk. */
export const mend: Wing = { mendLanding };
