import type { ApiClient } from '../../api/client.js';
import { ITEMS_A_PAGE } from '../../api/contract.js';
import { explainBroken } from '../../plan/broken-exports.js';
import { type Ahead, type Count, countPages, sumCounts } from '../../plan/estimate.js';
import type { CopyPlan, PollPlan } from '../../plan/plan-copy.js';
import type { Dataset } from '../../plan/plan-shards.js';
import type { RunFacts } from '../../plan/run-facts.js';
import { listParts } from '../../source/dataset-client.js';
import type { PlannedRun } from '../../source/read-plan.js';
import { countItems } from './run-planner.js';

/** Prices the rest of a copy: exports, or pages of all items. */
export function estimateCopy(facts: RunFacts, copy: CopyPlan, { gate }: PlannedRun): Pick<Ahead, 'exports' | 'pages'> {
  const { choice, datasets, items, missing, shards, exportRows } = copy;
  if (choice.route === 'pages') {
    const calls = datasets.reduce((sum, dataset) => sum + countPageCalls(facts, dataset), 0);
    return { exports: undefined, pages: calls === 0 ? undefined : { calls, items, reason: choice.reason } };
  }
  const calls = shards === undefined ? datasets.length : missing.length;
  const known = gate.memory.list();
  const [broken] = missing.flatMap(({ name }) => known.find((one) => one.name === name) ?? []);
  const note = broken && explainBroken(broken);
  return { exports: calls === 0 ? undefined : { calls, rows: exportRows, note }, pages: undefined };
}

function countPageCalls({ counts, landed }: RunFacts, dataset: Dataset): number {
  const { isDone = false, wholePages = 0 } = landed.polls.get(dataset) ?? {};
  if (isDone) return 0;
  const pages = countPages(counts?.get(dataset) ?? 0n, ITEMS_A_PAGE);
  // A call counts the items. After several pages, another looks for items that came meanwhile.
  return Math.max(0, pages - wholePages) + (pages > 1 ? 2 : 1);
}

/** Counts items that changed since the start of each poll. */
export async function estimatePolls(
  client: ApiClient,
  { landed }: RunFacts,
  polls: readonly PollPlan[],
): Promise<Count | undefined> {
  const counts: Count[] = [];
  for (const { datasets, since, untilSettled, reopens } of polls) {
    for (const part of listParts(client, datasets)) {
      const polled = reopens ? undefined : landed.polls.get(part.dataset);
      if (polled?.isDone) continue;
      const changedSince = polled?.round.since ?? since;
      // Without a time, the poll asks for items that move while shards are read: usually one page.
      const changed =
        changedSince === undefined ? 0n : await countItems(part, { changedSince: new Date(changedSince) });
      const { rows = 0n, pages = 0 } = polled?.round ?? {};
      counts.push({
        count: changed > rows ? changed - rows : 0n,
        calls: Math.max(1, countPages(changed, ITEMS_A_PAGE) - pages),
        exact: changedSince !== undefined && !untilSettled,
      });
    }
  }
  return sumCounts(counts);
}
