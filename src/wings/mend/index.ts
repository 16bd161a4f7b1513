import type { Wing } from '../wing.js';
import { mendLanding } from './mend-landing.js';

/** Reads again what has changed on disk between two tries of a run. */
export const mend: Wing = { mendLanding };
