import { CONTRACT_FORMATS } from '../../contracts/contract-formats.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, file } from '../parameter.js';

export const schema = declareCommand({
  name: 'schema',
  describe: 'Show columns, types and keys of the tables, or print them for another system',
  arguments: { table: choice(TABLE_NAMES, 'One table; default all') },
  options: {
    format: choice(
      CONTRACT_FORMATS,
      'ddl: CREATE TABLE for DuckDB; json: JSON Schema of a row; spark: StructType as JSON; odcs: data contract',
      { default: 'markdown' },
    ),
    output: file('Write to this file'),
  },
  examples: [
    ['pricelake schema price_spread', 'Columns with their meaning'],
    ['pricelake schema --format bigquery', 'CREATE TABLE for all tables, with exact types'],
    ['pricelake schema items --format arrow --output items.arrows', 'An Arrow stream without rows'],
  ],
  notes:
    'Ids are int64, money is DECIMAL(18,4), times are instants in UTC, datasets and attribution are lists of text. Keys are declared unless they would slow down loading, or a part of them can be NULL.',
});
