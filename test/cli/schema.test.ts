import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { showSchema } from '../../src/cli/actions/show-schema.js';
import { CONTRACT_FORMATS } from '../../src/deliver/names.js';
import { MemoryOutput, openContext } from './open-context.js';

describe('schema', () => {
  it.each(CONTRACT_FORMATS.filter((format) => format !== 'arrow'))('writes all tables or one as %s', async (format) => {
    const all = openContext();
    await showSchema({ format }, all);
    expect(all.output.text.toLowerCase()).toContain('spread_pct');
    expect(all.output.text.toLowerCase()).toContain('change_id');
    const one = openContext();
    await showSchema({ table: 'sites', format }, one);
    expect(one.output.text.toLowerCase()).toContain('attribution');
    expect(one.output.text.toLowerCase()).not.toContain('spread_pct');
    if (format === 'json' || format === 'spark') JSON.parse(one.output.text);
  });

  it('writes one table as an Arrow stream, though not to a terminal', async () => {
    const context = openContext();
    await showSchema({ table: 'items', format: 'arrow' }, context);
    expect(tableFromIPC(Buffer.concat(context.output.chunks)).schema.fields[0]?.name).toBe('item_id');
    await expect(showSchema({ format: 'arrow' }, openContext())).rejects.toThrow('--format arrow needs one table');
    const terminal = { ...openContext(), output: new MemoryOutput(80) };
    await expect(showSchema({ table: 'items', format: 'arrow' }, terminal)).rejects.toMatchObject({ code: 'usage' });
  });
});
