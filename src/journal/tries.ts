import * as z from 'zod';
import { RUN_STEPS } from '../io/io.js';
import { int64Text } from './run-entry.js';

const step = z.enum(RUN_STEPS);

/** The record of one process's work on a run. A process that is killed leaves no record. */
export const tryEntry = z.strictObject({
  type: z.literal('try'),
  runNumber: int64Text,
  begunAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /** The duration of each step, in seconds. Steps that the process didn't reach are missing. */
  steps: z.partialRecord(step, z.number().min(0)),
  /** The error that ended the process before the run was finished. */
  fault: z
    .strictObject({
      step,
      /** A code from docs/reference/errors.md, or `unexpected`. */
      code: z.string(),
      message: z.string(),
      hint: z.string().optional(),
    })
    .optional(),
});

export type RunTry = Omit<z.infer<typeof tryEntry>, 'type'>;

/** The maximum number of entries to store. If there are more, the oldest are dropped. */
export const MOST_TRIES = 50;
