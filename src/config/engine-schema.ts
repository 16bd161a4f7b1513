import * as z from 'zod';
import { mapping } from './offer-schema.js';

const COMMAND = 'must be a list: the program, then its arguments';

/** A program and its arguments. */
export const commandLine = z
  .array(z.string(COMMAND).regex(/^[^\0]*$/, COMMAND), COMMAND)
  .min(1, COMMAND)
  .refine(([program]) => program !== '', COMMAND);

const ROWS = 'must be a whole number of rows';

/** Files come to workers and back by the folder of the lake, which they see as well, or by its remote. */
const EXCHANGES = ['folder', 'remote'] as const;

const spark = mapping({
  submit: commandLine.default(['spark-submit']),
  worker: commandLine.default(['pricelake']),
  exchange: z.enum(EXCHANGES, `must be one of ${EXCHANGES.join(', ')}`).default('folder'),
  leastRows: z.number(ROWS).int(ROWS).nonnegative(ROWS).default(5_000_000),
});

/** The engine of a run's bulk: a cluster, or this machine. */
export const engine = mapping({ spark: spark.optional() }).default({});

type Engine = z.output<typeof engine>;

/** The values of `--engine`. */
export const ENGINES = ['spark', 'local'] as const;

/** The engine that the command line names, with the settings of the pipeline file or the defaults. */
export function chooseEngine(name: (typeof ENGINES)[number], { spark: settings }: Engine): Engine {
  return name === 'local' ? {} : { spark: settings ?? spark.parse({}) };
}
