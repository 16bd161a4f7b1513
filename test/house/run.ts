// npm run house [-- --record | --list]: what a run makes a newcomer read, beside the recorded figures.
import { existsSync } from 'node:fs';
import { readBounds, recordBounds, tabulateHouse } from './bounds.js';
import { measureHouse } from './measure-house.js';

const figures = tabulateHouse(measureHouse('src'));
const isRecording = process.argv.includes('--record');
if (isRecording) recordBounds(figures);
const bounds = existsSync('test/house/recorded.json') ? readBounds() : {};
for (const { name, value, places = [] } of figures) {
  console.log(`${String(value).padStart(6)}  ${name} (recorded: ${bounds[name] ?? 'none'})`);
  if (process.argv.includes('--list')) for (const place of places) console.log(`          ${place}`);
}
const isWorse = figures.some(({ name, value }) => value > (bounds[name] ?? value));
process.exitCode = isWorse ? 1 : 0;
