/** Child process, its working directory a lake: runs catalog.sql and prints every view's rows as JSON, one line each. */
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create()).connect();
await connection.run("SET TimeZone = 'UTC'");
await connection.run(readFileSync('catalog.sql', 'utf8'));
for (const table of JSON.parse(process.argv[2])) {
  const reader = await connection.runAndReadAll(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM "${table}" ORDER BY ALL`);
  process.stdout.write(`${JSON.stringify([table, reader.getRows()])}\n`);
}
