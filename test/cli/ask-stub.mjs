/**
 * Stands for spark-submit and pipelines/spark/spread.py: DuckDB makes the rows, and they come back as Spark's do, in several
 * files, with numbers of 128 bits as decimals.
 *
 *     node ask-stub.mjs [--note FILE] [--play fail|hang|elsewhere] … spread.py --arguments FILE
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const at = process.argv.findIndex((word) => word.endsWith('spread.py'));
const { values: own } = parseArgs({
  args: process.argv.slice(2, at),
  options: { note: { type: 'string' }, play: { type: 'string' }, conf: { type: 'string', multiple: true } },
});
const text = readFileSync(process.argv[at + 2], 'utf8');
const { values: options } = parseArgs({
  args: JSON.parse(text),
  options: {
    ...Object.fromEntries(
      ['lake', 'to', 'copy-to', 'tables', 'versions', 'fx', 'fx-base', 'weights', 'tree'].map((name) => [
        name,
        { type: 'string' },
      ]),
    ),
    set: { type: 'string', multiple: true, default: [] },
  },
});
if (own.note !== undefined) {
  const facts = { pid: process.pid, options, conf: own.conf, environment: process.env, words: process.argv.slice(2) };
  appendFileSync(own.note, `${JSON.stringify(facts)}\n`);
}
if (own.play === 'fail') {
  process.stderr.write('java.io.IOException: no space left on the moon\n');
  process.exit(1);
}
if (own.play === 'elsewhere') process.exit(0);
if (own.play === 'hang') {
  writeFileSync(join(options.to.replace('file://', ''), 'step'), 'half');
  setInterval(() => {}, 1000);
} else await answer();

async function answer() {
  const analysis = options.tables.split(',').at(-1);
  const folder = options['copy-to'];
  mkdirSync(folder);
  const whole = join(folder, '..', 'whole.parquet');
  const given = ['fx', 'fx-base', 'weights', 'tree'].flatMap((name) =>
    options[name] === undefined ? [] : [`--${name}`, options[name]],
  );
  const args = ['query', '--lake', options.lake.replace('file://', ''), '--analysis', analysis, ...given];
  for (const one of options.set) if (options.weights === undefined || !one.startsWith('by=')) args.push('--set', one);
  execFileSync(process.execPath, [MAIN, ...args, '--format', 'parquet', '--output', whole]);
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const [[rows]] = await (await connection.run(`SELECT count(*) FROM '${whole}'`)).getRows();
  const half = rows / 2n;
  for (const [part, limit] of [`LIMIT ${half}`, `OFFSET ${half}`].entries()) {
    await connection.run(`COPY (FROM '${whole}' ${limit}) TO '${folder}/part-0000${part}-x.snappy.parquet'
      (FORMAT parquet, KV_METADATA {"org.apache.spark.version": '3.5.9'})`);
  }
  writeFileSync(join(folder, '_SUCCESS'), '');
  connection.closeSync();
}
