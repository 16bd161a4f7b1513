import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { takeOff } from '../../src/source/hydrate-export.js';
import { isItemId } from '../../src/tables/item-names.js';
import { makeFolder } from '../journal/folder.js';

/** Lists the ids that are still needed after the file has landed. */
async function needed(name: string, text: string, mapping = {}): Promise<bigint[]> {
  const file = path.join(await makeFolder(), name);
  await writeFile(file, text);
  const ids = new Set([1n, 2n, 3n, 4n, 9007199254740993n]);
  await takeOff(ids, file, (field) => isItemId(field, mapping));
  return [...ids];
}

describe('items of a landed export need no other read', () => {
  const LINES = '{"id":1}\r\n\r\n\n{"title":"A","id":2}\n{"id":3.5}\n{"title":"B"}\n[4]\n{"id":5,"ti';
  test('and its blank and damaged lines are none', async () => {
    expect(await needed('hydrate-export-1-00001.ndjson', LINES)).toEqual([3n, 4n, 9007199254740993n]);
  });

  test('however the id is named, in lines and in CSV', async () => {
    const lines = '{"title":"A","item_id":1}\n{"itemId":9007199254740993}\n';
    expect(await needed('hydrate-export-1-00001.ndjson', lines)).toEqual([2n, 3n, 4n]);
    const mapped = '{"id":2,"sku":1}\n';
    expect(await needed('hydrate-export-1-00001.ndjson', mapped, { sku: 'id' })).not.toContain(1n);
    expect(await needed('hydrate-export-1-00001.ndjson', mapped, { sku: 'id' })).toContain(2n);
    const csv = '\ufefftitle,Item_ID\r\n"a,\n""b""",1\r\nc,9007199254740993\r\nd,x\r\ne\r\nf,"3"';
    expect(await needed('hydrate-export-2-00001.csv', csv)).toEqual([2n, 4n]);
  });

  test('but a page names it as the document does', async () => {
    expect(await needed('hydrate-00001.ndjson', '{"item_id":1,"id":2}\n')).not.toContain(2n);
    expect(await needed('hydrate-00001.ndjson', '{"item_id":1,"id":2}\n')).toContain(1n);
  });
});
