import { countBesideRun, countCallsLeft } from '../../plan/allowance.js';
import type { ProbedRun } from '../../run/open/wings.js';
import { sql } from '../../sql/sql.js';
import type { Wing } from '../wing.js';
import { landProbes } from './land-probes.js';

/**
 * Returns the websites for which the run still has to ask when an item was last seen. The rest of the run may leave
 * calls for only some of them. Returns undefined if the run doesn't ask about any website.
 */
async function chooseSites(run: ProbedRun): Promise<readonly bigint[] | undefined> {
  const { landed, account } = run.facts;
  if (account === undefined || !isDue(run)) return undefined;
  const left = (await listSites(run)).filter((site) => !landed.probes.sites.has(site));
  const sites = left.slice(0, countBesideRun(left.length, countCallsLeft(account.allowance, account.callsMade)));
  return landed.probes.sites.size + sites.length > 0 ? sites : undefined;
}

/** Returns true if it is time to ask when items of each website were last seen. A full copy makes this unnecessary. */
function isDue({ pipeline, memory, mode, facts: { lake, landed, now } }: ProbedRun): boolean {
  if (pipeline.probe === undefined || mode === 'snapshot' || landed.probes.isDone) return false;
  const looked = Math.max(memory.state.probedAt?.getTime() ?? 0, lake.snapshotAt?.getTime() ?? 0);
  return now.getTime() - looked >= pipeline.probe;
}

/** Lists the websites with listed items, starting with the website whose sources were read longest ago. */
async function listSites({ graph, before }: ProbedRun): Promise<bigint[]> {
  const rows = await graph.rows(sql`SELECT site_id FROM ${await before.rows('sources')}
    SEMI JOIN (SELECT DISTINCT site_id FROM ${await before.rows('items')} WHERE is_listed) AS listed USING (site_id)
    GROUP BY site_id ORDER BY min(read_at), site_id`);
  return rows.map(({ site_id }) => site_id as bigint);
}

/** Asks the service when the most recently seen item of each website was last seen. */
export const probes: Wing = {
  probe: {
    choose: chooseSites,
    async ask({ client, landing, memory, io, ...run }) {
      const sites = await chooseSites({ ...run, memory });
      if (sites !== undefined) await landProbes(client, landing, sites, { memory, io });
    },
  },
};
