import { compareColumns, describeOtherTypes, nameColumns } from '../lake/column-drift.js';
import type { Proof } from './proof.js';

export const logProof: Proof = {
  name: 'logs',
  claims:
    'Every log can be replayed from its beginning; its checkpoints and columns are what the replay and schemas/ say.',
  async prove({ tables, logFindings }, report) {
    for (const finding of logFindings) report(finding);
    const notes: string[] = [];
    for (const { table, schema, schemaString } of tables.values()) {
      const drift = compareColumns(schema, schemaString);
      if (drift.unknown.length > 0)
        report({ table, what: `has ${nameColumns(drift.unknown)} of a newer version of pricelake` });
      if (drift.retyped.length > 0) report({ table, what: describeOtherTypes(table, drift) });
      if (drift.missing.length > 0) {
        notes.push(`${table} is of an older version: its next commit adds ${nameColumns(drift.missing)}`);
      }
    }
    const count = [...tables.values()].reduce((sum, { commits }) => sum + BigInt(commits), 0n);
    return { count, of: 'commits', notes };
  },
};
