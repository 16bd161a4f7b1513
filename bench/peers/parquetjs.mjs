/** parquetjs.mjs FOLDER: copies items as a Node.js developer would, with JSON.parse for each line and parquetjs-lite. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import parquet from 'parquetjs-lite';

const text = { type: 'UTF8', optional: true };
const number = { type: 'DOUBLE', optional: true };
const texts =
  'title brand mpn gtin priceChangedAt currency url image attributes category datasets site source firstSeenAt lastSeenAt lastChangedAt removedAt';
const schema = new parquet.ParquetSchema({
  id: { type: 'INT64' },
  price: number,
  previousPrice: number,
  ...Object.fromEntries(texts.split(' ').map((name) => [name, text])),
});
const answer = await fetch(`${process.env.PRICELAKE_BASE_URL}/api/v1/export?format=ndjson`, {
  headers: { authorization: `Bearer ${process.env.PRICELAKE_API_KEY}` },
});
if (!answer.ok) throw new Error(`${answer.status}`);
const writer = await parquet.ParquetWriter.openFile(schema, `${process.argv[2]}/items.parquet`);
for await (const line of createInterface({ input: Readable.fromWeb(answer.body) })) {
  const row = JSON.parse(line);
  for (const name of ['attributes', 'category', 'datasets', 'site', 'source']) row[name] = JSON.stringify(row[name]);
  await writer.appendRow(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)));
}
await writer.close();
