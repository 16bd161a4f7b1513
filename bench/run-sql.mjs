/** node run-sql.mjs FILE: runs a file's statements in DuckDB with the default memory limit and number of threads. */
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const instance = await DuckDBInstance.create();
const connection = await instance.connect();
const statements = await connection.extractStatements(readFileSync(process.argv[2], 'utf8'));
for (let i = 0; i < statements.count; i++) await (await statements.prepare(i)).run();
connection.closeSync();
instance.closeSync();
