/**
 * Stands for spark-submit and pipelines/spark/run_tasks.py: it takes tasks by the same socket, and does each as Spark does, in a
 * process of the worker's command, with more tries for one that fails.
 *
 *     node spark-stub.mjs [--once] [--note FILE] [--play PART] [--env FILE] SCRIPT SOCKET COMMAND…
 *
 * --env: JSON of what the machines of the cluster have in their environment.
 * --once does all tasks in this process, which takes a tenth of the time. --note writes all that it was given to a file.
 * --play: `hang` never answers, `die` ends at the second task, `talk` sends something else, `late` never connects,
 * `lose` kills each worker at its first try, `stray` answers with files elsewhere, `give up` says what Spark would,
 * `drop KIND [TABLE]` leaves a row of each task of that kind out, `hide` has no folder `only-here`, `fill up` answers the second slice that it has no room, others never.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const at = process.argv.findIndex((word) => word.endsWith('run_tasks.py'));
const { values: options } = parseArgs({
  args: process.argv.slice(2, at),
  options: { once: { type: 'boolean' }, note: { type: 'string' }, play: { type: 'string' }, env: { type: 'string' } },
});
const [socket, ...command] = process.argv.slice(at + 1);
const TRIES = 4;

const note = (facts) => {
  if (options.note !== undefined) appendFileSync(options.note, `${JSON.stringify(facts)}\n`);
};

/** @returns {Promise<string>} what the worker printed */
function work(task, attempt) {
  const [program, ...words] = command;
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => {}).write(`${task}\n`); // stays open, as Spark's does
  if (options.play === 'lose' && attempt === 1) setTimeout(() => child.kill('SIGKILL'), 150);
  let [answer, reason] = ['', ''];
  child.stdout.on('data', (text) => {
    answer += text;
  });
  child.stderr.on('data', (text) => {
    reason += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(answer) : reject(new Error(`ended with ${code}: ${reason}`))));
  });
}

async function workHere(task) {
  const { doTask } = await import('../../dist/run/do-task.js');
  return doTask(task, new AbortController().signal);
}

async function tryOften(task) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await (options.once ? workHere(task) : work(task, attempt));
    } catch (error) {
      if (attempt === TRIES) throw error;
    }
  }
}

const link = options.play === 'late' ? undefined : createConnection(socket);
note({ pid: process.pid, arguments: process.argv, environment: process.env });
if (options.env !== undefined) Object.assign(process.env, JSON.parse(readFileSync(options.env, 'utf8')));
const give = (answer) => link.write(`${JSON.stringify(answer)}\n`);
/** At most two at once, as on a small cluster. */
let running = 0;
let tasks = 0;
const waiting = [];

const NO_ROOM = JSON.stringify({ error: { code: 'disk_full', message: 'no space left on the disk' } });
let slices = 0;

/** The task, or one that leaves its first row out. */
function alter(task) {
  if (options.play === 'hide') return task.replaceAll('/only-here/', '/elsewhere/');
  const request = JSON.parse(task);
  const [play, kind, table] = (options.play ?? '').split(' ');
  if (play !== 'drop' || kind !== request.kind || (table ?? request.task.form?.table) !== request.task.form?.table)
    return task;
  const select = ['FROM (', ...request.task.select, ') OFFSET 1'];
  return JSON.stringify({ ...request, task: { ...request.task, select } });
}

async function run({ id, task }) {
  if (options.play === 'give up') return give({ id, fault: 'Job aborted due to stage failure' });
  if (options.play === 'fill up' && JSON.parse(task).kind === 'slice') {
    slices += 1;
    if (slices === 2) give({ id, answer: NO_ROOM });
    return;
  }
  try {
    const answer = await tryOften(alter(task));
    give({ id, answer: options.play === 'stray' ? answer.replaceAll('"_pricelake/', '"elsewhere/') : answer });
  } catch (error) {
    give({ id, fault: String(error) });
  }
}

function begin() {
  while (running < 2 && waiting.length > 0) {
    running += 1;
    run(waiting.shift()).finally(() => {
      running -= 1;
      begin();
    });
  }
}

if (link === undefined) setInterval(() => {}, 1000);
else {
  createInterface({ input: link }).on('line', (line) => {
    const request = JSON.parse(line);
    note({ task: request.task });
    tasks += 1;
    if (options.play === 'hang') return;
    if (options.play === 'talk') link.write('WARN something else\n');
    if (options.play === 'die' && tasks === 2) {
      process.stderr.write('Exception in thread "main": the master is gone\n');
      process.exit(1);
    }
    waiting.push(request);
    begin();
  });
  link.on('end', () => process.exit(0)).on('error', () => process.exit(0));
}
