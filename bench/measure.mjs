/** node measure.mjs RESULT SCRIPT [ARGS…]: runs a script in this process, and writes its CPU time and peak memory to RESULT. */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [result, script, ...args] = process.argv.slice(2);
process.argv.splice(1, process.argv.length, script, ...args);
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(result, JSON.stringify({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakBytes: maxRSS * 1024 }));
});
await import(pathToFileURL(script).href);
