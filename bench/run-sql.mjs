/** node run-sql.mjs FILE: runs the statements of a file in a DuckDB of its own, with its default memory and threads. */
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const instance = await DuckDBInstance.create();
const connection = await instance.connect();
const statements = await connection.extractStatements(readFileSync(process.argv[2], 'utf8'));
for (let i = 0; i < statements.count; i++) await (await statements.prepare(i)).run();
connection.closeSync();
instance.closeSync();
