import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { openLake } from '../../src/lake/lake.js';
import { openContext } from '../cli/open-context.js';
import { sealLines } from '../journal/list-fold.js';
import { makeFolder } from '../lake/fixture.js';
import { add, CREATED, writeEntry } from '../lake/log-writer.js';

// A lake's folder may contain files that another machine or a bucket has put there.

test('no reader opens a file outside the table, even if the log names it', async () => {
  const folder = await makeFolder();
  await writeFile(path.join(folder, 'secret.parquet'), 'secret');
  const lake = await openLake(path.join(folder, 'lake'), { create: true });
  await writeEntry(lake, 0n, [...CREATED, add('../../secret.parquet')]);
  const query = runQuery({ lake: lake.root, sql: 'FROM items', memory: '1GB' }, openContext(true));
  const named = expect.stringContaining('the path "../../secret.parquet" leaves its folder');
  await expect(query).rejects.toMatchObject({ code: 'lake_invalid', message: named });
  const context = openContext();
  await expect(runVerify({ lake: lake.root }, context)).rejects.toMatchObject({ code: 'verify_failed' });
  expect(context.output.text).toContain('the path "../../secret.parquet" leaves its folder');
});

test('verify opens no file outside a landing, even if its journal names it', async () => {
  const folder = await makeFolder();
  const lake = await openLake(path.join(folder, 'lake'), { create: true });
  const landing = path.join(lake.root, '_pricelake', 'landing', '000001-20261120T090000Z');
  await mkdir(landing, { recursive: true });
  const page = { type: 'poll.page', file: '../../../../secret', rows: 1, end: 1 };
  await writeFile(path.join(landing, 'journal.ndjson'), sealLines([{ type: 'begin' }, page]));
  const context = openContext();
  await expect(runVerify({ lake: lake.root }, context)).rejects.toMatchObject({ code: 'verify_failed' });
  expect(context.output.text).toContain('lists the file "../../../../secret": it leaves its folder');
});
