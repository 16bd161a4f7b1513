import { declareCommand } from '../command.js';
import { choice, type Form, text, value } from '../parameter.js';
import { OWN_LAKE, PIPELINE, RESUME_HINT } from '../shared-options.js';

const ITEM_IDS: Form<bigint[]> = {
  what: 'a list of item ids, separated by commas',
  parse: (typed) => {
    const ids = typed.split(',').map((id) => id.trim());
    const isId = (id: string) => /^\d{1,19}$/.test(id) && BigInt(id) <= 9223372036854775807n;
    return ids.every(isId) ? [...new Set(ids)].map(BigInt) : undefined;
  },
  placeholder: 'IDS',
};

export const backfill = declareCommand({
  name: 'backfill',
  describe: "Read the history of chosen items, and add what the lake's history lacks",
  arguments: { what: choice(['history'], 'What to read', { isRequired: true }), pipeline: PIPELINE },
  options: {
    lake: OWN_LAKE,
    items: value(ITEM_IDS, 'Item ids, separated by commas'),
    where: text('Items that match this SQL condition on table items', { excludes: ['items'] }),
  },
  examples: [
    ['pricelake backfill history --items 4711,4712', 'Two calls, and a run'],
    [`pricelake backfill history --where "product_id = '4006381333931'"`, 'All offers of a product'],
  ],
  notes:
    "Makes one call for each item, and reads as far back as the plan's history reaches. If a backfill stops, run the same command again: it continues where it stopped. Its rows have origin history. A change that is already there is not added twice.",
  stopHint: RESUME_HINT,
});
