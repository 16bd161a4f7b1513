import type { Wing } from '../wing.js';
import { mendLanding } from './mend-landing.js';

/** Checks the files of an unfinished run, and has altered ones downloaded again. */
export const mend: Wing = { mendLanding };
