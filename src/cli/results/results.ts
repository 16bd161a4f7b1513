import * as z from 'zod';
import { advanceResult, demoResult, doctorResult, initResult, planResult, sandboxResult, syncResult } from './copy.js';
import {
  compactResult,
  errorResult,
  loadResult,
  manifestResult,
  rebuildResult,
  restoreResult,
  verifyResult,
  webhookResult,
} from './keep.js';
import { toOutputSchema } from './kinds.js';
import {
  changesResult,
  checkResult,
  completionResult,
  helpResult,
  queryResult,
  reportResult,
  rowsResult,
  schemaResult,
  serverResult,
  statusResult,
  watchResult,
} from './read.js';
import { whyResult } from './why.js';

/**
 * The schema of each command's JSON object, without its `ok` member. A server prints this object when it starts
 * listening.
 */
export const RESULTS: Readonly<Record<string, z.ZodType>> = {
  ...{ demo: demoResult, init: initResult, doctor: doctorResult, plan: planResult, sync: syncResult },
  ...{ check: checkResult, spread: rowsResult, watch: watchResult, query: queryResult },
  ...{
    why: whyResult,
    schema: schemaResult,
    explore: z.union([serverResult, addOk(reportResult)]),
    status: statusResult,
  },
  ...{ webhook: webhookResult, verify: verifyResult, 'lake rebuild': rebuildResult },
  ...{ 'lake compact': compactResult, 'lake restore': restoreResult },
  ...{ 'deliver changes': changesResult, 'deliver manifest': manifestResult, 'deliver load': loadResult },
  ...{ sandbox: sandboxResult, 'sandbox advance': advanceResult, completion: completionResult },
  ...{ help: helpResult },
};

/** The commands whose JSON object has no member `ok`. */
export const SERVERS: readonly string[] = ['explore', 'webhook', 'sandbox'];

/** Returns the JSON Schema of the JSON object that each command prints. The keys are file names. */
export function listOutputSchemas(): Record<string, Record<string, unknown>> {
  const all = Object.entries(RESULTS).map(([name, result]) => {
    const whole = SERVERS.includes(name) ? result : addOk(result);
    return [name.replace(' ', '-'), describe(whole, `pricelake ${name} --json`)];
  });
  return { ...Object.fromEntries(all), error: describe(errorResult, 'Any command that fails, with --json') };
}

function addOk(result: z.ZodType): z.ZodType {
  if (result instanceof z.ZodUnion) return z.union(result.options.map((one) => addOk(one as z.ZodType)));
  return (result as z.ZodObject).extend({ ok: z.literal(true) });
}

const describe = (schema: z.ZodType, title: string) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title,
  ...toOutputSchema(schema, 'number'),
});
