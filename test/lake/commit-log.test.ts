import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { PRICELAKE_VERSION } from '../../src/io/package-path.js';
import { commitTable } from '../../src/lake/commit.js';
import { stageTable } from '../../src/lake/stage.js';
import { AT, ITEM, makeLake, openDatabase, select, write } from './fixture.js';

const source = select('items', ITEM, 'range(9) AS r(i)');
const INFO = { runId: 'r7', operation: 'TEST', at: AT };

/** The actions of a version of `items`, by their kind. */
async function readActions(root: string, version: number): Promise<Record<string, unknown>[]> {
  const log = `${root}/items/_delta_log/${String(version).padStart(20, '0')}.json`;
  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a table names its protocol once, and every version begins with who made it, when and why', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: source, applied: { run: 1n } });
  const add = await stageTable(db, lake, { table: 'items', runId: 'r7', select: source });
  const at = new Date('2026-11-21T00:00:00.123Z');
  await commitTable(lake, { table: 'items', add, remove: [], applied: { run: 2n } }, { ...INFO, at });
  const versions = [await readActions(lake.root, 0), await readActions(lake.root, 1)];
  const protocols = versions.map((actions) => actions.filter(({ protocol }) => protocol !== undefined));
  expect(protocols).toEqual([[{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }], []]);
  expect(versions.map(([first]) => first?.commitInfo)).toEqual([
    expect.objectContaining({ runId: 'r1', timestamp: AT.getTime() }),
    {
      timestamp: at.getTime(),
      operation: 'TEST',
      operationParameters: {},
      engineInfo: `pricelake/${PRICELAKE_VERSION}`,
      runId: 'r7',
      actions: (versions[1]?.length ?? 0) - 1,
    },
  ]);
  expect(versions.map((actions) => actions.filter(({ commitInfo }) => commitInfo !== undefined).length)).toEqual([
    1, 1,
  ]);
});
