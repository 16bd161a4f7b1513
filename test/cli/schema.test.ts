import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { showSchema } from '../../src/cli/actions/show-schema.js';
import { CONTRACT_FORMATS } from '../../src/deliver/names.js';
import { act, MemoryOutput, openContext } from './open-context.js';

describe('schema', () => {
  it.each(CONTRACT_FORMATS.filter((format) => format !== 'arrow'))('writes all tables or one as %s', async (format) => {
    const all = (await act(showSchema, { format })).text.toLowerCase();
    expect(all).toContain('spread_pct');
    expect(all).toContain('change_id');
    const { text } = await act(showSchema, { table: 'sites', format });
    expect(text.toLowerCase()).toContain('attribution');
    expect(text.toLowerCase()).not.toContain('spread_pct');
    if (format === 'json' || format === 'spark') JSON.parse(text);
  });

  it('writes one table as an Arrow stream, though not to a terminal', async () => {
    const { bytes } = await act(showSchema, { table: 'items', format: 'arrow' });
    expect(tableFromIPC(bytes).schema.fields[0]?.name).toBe('item_id');
    await expect(showSchema({ format: 'arrow' }, openContext())).rejects.toThrow('--format arrow needs a single table');
    const terminal = { ...openContext(), output: new MemoryOutput(80) };
    await expect(showSchema({ table: 'items', format: 'arrow' }, terminal)).rejects.toMatchObject({ code: 'usage' });
  });
});
