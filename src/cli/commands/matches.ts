import { declareCommand } from '../command.js';
import { text, whole } from '../parameter.js';
import { CREDITS_NOTE, LAKE, PIPELINE, RESULT } from '../shared-options.js';

export const matches = declareCommand({
  name: 'matches',
  describe: 'List pairs of products that may be the same, for you to decide',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    brand: text('Only this brand, ignoring case', { completes: 'brands' }),
    top: whole('Maximum number of pairs', { from: 0, default: 20 }),
    ...RESULT,
  },
  examples: [
    ['pricelake matches --top 50', 'The likeliest pairs, with the evidence for and against each'],
    ['pricelake matches --format csv --output matches.csv', 'Then write yes or no into column match of this file'],
  ],
  notes: `Both products of a pair have the same brand and pack, and share at least half of their words. pricelake never joins products by itself: name the CSV file with your decisions in analysis.matches of the pipeline file, and the next sync applies them to table matches. Add new pairs to that file; pairs that you have decided aren't listed again.
The command compares only listed offers with a price, a brand and a pack size.
${CREDITS_NOTE}`,
});
