import { readFileSync } from 'node:fs';
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { writeMarkdown } from '../../deliver/markdown.js';
import { PricelakeError } from '../../io/errors.js';
import { packagePath } from '../../io/package-path.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { toExactJson } from '../exact-json.js';
import { toReportRow } from '../output/report-rows.js';
import { escapeControls } from '../plain-text.js';
import type { Desk } from './desk.js';

const MARKDOWN = 'text/markdown';
const JSON_TYPE = 'application/json';
const LEDGER_ROWS = 100;

/**
 * Registers the glossary, the schemas of the tables, and the list of runs as resources, which clients can read without
 * a tool.
 */
export function addResources(server: McpServer, desk: Desk): void {
  server.registerResource(
    'glossary',
    'pricelake://glossary',
    { title: 'Glossary', description: 'Terms used in tables and tools', mimeType: MARKDOWN },
    async ({ href }) => {
      return {
        contents: [{ uri: href, mimeType: MARKDOWN, text: readFileSync(packagePath('docs/glossary.md'), 'utf8') }],
      };
    },
  );
  server.registerResource(
    'table',
    new ResourceTemplate('pricelake://tables/{table}', {
      list: async () => ({
        resources: TABLE_NAMES.map((name) => ({ uri: `pricelake://tables/${name}`, name, mimeType: MARKDOWN })),
      }),
      complete: { table: (typed) => TABLE_NAMES.filter((name) => name.startsWith(typed)) },
    }),
    { title: 'Table', description: "A table's columns, types and key", mimeType: MARKDOWN },
    async ({ href }, { table }) => {
      const known = TABLE_NAMES.find((name) => name === table);
      if (known === undefined) throw new PricelakeError('usage', 'there is no table with this name');
      return { contents: [{ uri: href, mimeType: MARKDOWN, text: writeMarkdown(loadTableSchema(known)) }] };
    },
  );
  server.registerResource(
    'ledger',
    'pricelake://ledger',
    { title: 'Ledger', description: `The last ${LEDGER_ROWS} runs, with their calls and rows`, mimeType: JSON_TYPE },
    async ({ href }) => {
      const sql = `FROM runs ORDER BY run_number DESC LIMIT ${LEDGER_ROWS}`;
      const rows = await desk.snapshots.use((snapshot) => snapshot.rows(sql));
      const text = JSON.stringify(rows.map((row) => toExactJson(toReportRow(Object.keys(row), Object.values(row)))));
      return { contents: [{ uri: href, mimeType: JSON_TYPE, text: escapeControls(text) }] };
    },
  );
}
