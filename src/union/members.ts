import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { PricelakeError } from '../io/errors.js';
import { readMemory } from '../journal/memory.js';
import { type Pointer, readPointer } from '../lake/pointer.js';
import { readTable } from '../lake/read.js';
import type { Lake } from '../tables/layout.js';
import { TABLE_NAMES, type TableName, type TableState } from '../tables/table.js';

/** One of the lakes of a union, in the version that its newest run published. */
export interface Member {
  lake: Lake;
  pointer: Pointer;
  states: Readonly<Record<TableName, TableState>>;
}

/**
 * Reads the current versions of the lakes. Sorts them by folder, so that their order on the command line doesn't
 * matter.
 * @throws PricelakeError `usage` if a folder is given twice or the lakes belong to different services, `lake_invalid`
 * if a lake has no published run
 */
export async function readMembers(lakes: readonly Lake[]): Promise<Member[]> {
  const roots = await Promise.all(lakes.map(({ root }) => realpath(root)));
  const twice = roots.find((root, index) => roots.indexOf(root) !== index);
  if (twice !== undefined) {
    const hint = 'Give each lake once.';
    throw new PricelakeError('usage', `--lake ${twice} is given twice`, { hint });
  }
  const sorted = [...lakes].sort((a, b) => (a.root < b.root ? -1 : 1));
  await refuseOtherService(sorted);
  return Promise.all(sorted.map(readMember));
}

async function readMember(lake: Lake): Promise<Member> {
  const pointer = await readPointer(lake);
  if (pointer === undefined) {
    const hint = 'Run `pricelake sync` for this lake first, or leave it out.';
    throw new PricelakeError('lake_invalid', `${lake.root}: no run has published data in this lake yet`, { hint });
  }
  const states = await Promise.all(TABLE_NAMES.map(async (table) => [table, await readTable(lake, table)] as const));
  return { lake, pointer, states: Object.fromEntries(states) as Member['states'] };
}

/**
 * Throws if the lakes belong to different services, because the same id can mean different items in two services.
 * Accepts a lake that hasn't recorded its service.
 */
async function refuseOtherService(lakes: readonly Lake[]): Promise<void> {
  const known: { root: string; service: string }[] = [];
  for (const lake of lakes) {
    const service = (await readMemory(lake)).plan?.from;
    if (service !== undefined) known.push({ root: lake.root, service });
  }
  const [first, ...otherMembers] = known;
  const other = otherMembers.find(({ service }) => service !== first?.service);
  if (first === undefined || other === undefined) return;
  const what = `${first.root} is a copy of ${first.service}, and ${other.root} of ${other.service}`;
  throw new PricelakeError(
    'usage',
    `${what}; lakes from different services can't be combined, because their ids are unrelated`,
    {
      hint: 'Choose lakes from the same service. If its address has changed, sync each lake once.',
    },
  );
}

/** Returns a hash that changes whenever any file of a lake changes. */
export function nameVersions(members: readonly Member[]): string {
  const digest = createHash('sha256');
  for (const { lake, states } of members) {
    digest.update(`${lake.root}\n`);
    for (const { table, version, files } of Object.values(states)) {
      digest.update(`${table} ${version} ${files.map(({ path }) => path).join(' ')}\n`);
    }
  }
  return digest.digest('hex').slice(0, 32);
}
