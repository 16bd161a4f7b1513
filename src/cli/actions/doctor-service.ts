import { fetchPlan, hasFeed } from '../../account/read-plan.js';
import { createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline-file.js';
import { formatCount } from '../../formats/count.js';
import { allowance, countLeft } from '../../plan/allowance.js';
import { formatSeconds } from '../progress.js';
import type { CommandContext } from '../run-command.js';
import type { Finding } from './doctor-finding.js';

const SKEW_SECONDS = 60;

/** One call: does the service answer, does it accept the key, what is left of the plan, and do the clocks agree? */
export async function lookAtService({ source, budget }: Pipeline, { io, signal }: CommandContext): Promise<Finding[]> {
  const client = createClient({ ...source, signal, retry: { attempts: 2 } }, io);
  try {
    const plan = await fetchPlan(client);
    const left = allowance(plan, budget).calls;
    const calls = left === undefined ? undefined : countLeft(left);
    const feed = hasFeed(plan) ? 'with the change feed' : 'without the change feed';
    const isUsedUp = calls !== undefined && calls <= 0n;
    return [
      { name: 'service', state: 'ok', found: `${source.baseUrl} answers and accepts the key` },
      {
        name: 'plan',
        state: isUsedUp ? 'warn' : 'ok',
        found: `${plan.name}, ${feed}, ${calls === undefined ? 'unlimited' : formatCount(calls)} calls left in the budget`,
        next: isUsedUp ? 'Wait for the next month, or raise budget.calls in the pipeline file.' : undefined,
      },
      compareClocks(client.serviceTime(), io.now()),
    ];
  } finally {
    await client.close();
  }
}

function compareClocks(service: Date | undefined, now: Date): Finding {
  if (service === undefined) return { name: 'clock', state: 'ok', found: 'the service does not send its time' };
  const skew = Math.abs(service.getTime() - now.getTime()) / 1000;
  const found = `${formatSeconds(skew)} from the service's clock`;
  if (skew <= SKEW_SECONDS) return { name: 'clock', state: 'ok', found };
  return {
    name: 'clock',
    state: 'warn',
    found,
    next: 'Check the clock of this machine: if it is the wrong one, the receiver refuses webhooks.',
  };
}
