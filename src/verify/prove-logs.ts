import { describeDeltaSchema, writeDeltaSchema } from '../lake/delta-schema.js';
import type { Proof } from './proof.js';

export const logProof: Proof = {
  name: 'logs',
  claims:
    'Every log can be replayed from its beginning; its checkpoints and columns are what the replay and schemas/ say.',
  async prove({ tables, logFindings }, report) {
    for (const finding of logFindings) report(finding);
    for (const { table, schema, schemaString } of tables.values()) {
      const columns = describeDeltaSchema(schemaString);
      if (columns !== describeDeltaSchema(writeDeltaSchema(schema)))
        report({ table, what: `has other columns: ${columns}` });
    }
    return { count: [...tables.values()].reduce((sum, { commits }) => sum + BigInt(commits), 0n), of: 'commits' };
  },
};
