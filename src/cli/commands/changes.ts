import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, text } from '../parameter.js';
import { CREDITS_NOTE, LAKE, RESULT, SINCE_FORMS } from '../shared-options.js';

export const changes = declareCommand({
  name: 'changes',
  describe: 'Show the rows of a table that are new, changed or gone since a run, a version or a time',
  arguments: { table: choice(TABLE_NAMES, 'Table of the lake', { isRequired: true }) },
  options: { since: text(SINCE_FORMS, { isRequired: true }), lake: LAKE, ...RESULT },
  examples: [
    ['pricelake changes items --since 41', 'What runs after run 41 changed'],
    ['pricelake changes items --since 2026-11-22 --format parquet --output new.parquet', 'What changed since midnight'],
  ],
  notes: `Columns before those of the table: change (new, changed or gone; written if it is new or changed), changed_columns, and for items events: what happened to them meanwhile.
Only files that runs added or replaced are read. lake.retention says how long replaced files are kept. Without them, the command cannot tell new rows of items from changed ones, and fails for tables that runs rewrite.
${CREDITS_NOTE}`,
});
