import { declareCommand } from '../command.js';
import { text, whole } from '../parameter.js';
import { CREDITS_NOTE, LAKE, PIPELINE, RESULT } from '../shared-options.js';

export const matches = declareCommand({
  name: 'matches',
  describe: 'List pairs of products that may be one, for you to decide',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    brand: text('Only this brand, in upper or lower case', { completes: 'brands' }),
    top: whole('Number of pairs', { from: 0, default: 20 }),
    ...RESULT,
  },
  examples: [
    ['pricelake matches --top 50', 'The likeliest pairs, with what speaks for and against each'],
    ['pricelake matches --format csv --output matches.csv', 'Write yes or no into column match of this file'],
  ],
  notes: `Both products have the same brand and pack, and at least half of their words. Nothing is joined by itself: analysis.matches of the pipeline file names the CSV file with your decisions, and the next sync applies them to table matches. Add new pairs to that file; pairs with a decision do not come again.
Only listed offers with a price, a brand and a pack size are compared.
${CREDITS_NOTE}`,
});
