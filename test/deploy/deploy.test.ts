import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readPipeline } from '../../src/config/pipeline-file.js';
import { packagePath } from '../../src/io/package-path.js';
import { parseExample } from '../docs/parse-example.js';

const run = promisify(execFile);
const FOLDER = packagePath('pipelines/deploy');
const read = (name: string) => readFile(path.join(FOLDER, name), 'utf8');

test('every file explains how to use it', async () => {
  const names = (await readdir(FOLDER)).sort();
  expect(names).toEqual([
    'Dockerfile',
    'airflow_dag.py',
    'airflow_shards.py',
    'alerts.yaml',
    'cronjob.yaml',
    'crontab',
    'dagster_assets.py',
    'prefect_flow.py',
    'pricelake-failed@.service',
    'pricelake-webhook.service',
    'pricelake.service',
    'pricelake.timer',
  ]);
  for (const name of names) expect([name, /^(#|""")/.test(await read(name))]).toEqual([name, true]);
});

test('the CronJob is valid YAML whose container runs our command with a valid pipeline file', async () => {
  const documents = parseAllDocuments(await read('cronjob.yaml')).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Record<string, never>;
  });
  expect(documents.map(({ kind }) => kind)).toEqual(['ConfigMap', 'PersistentVolumeClaim', 'CronJob']);
  const [map, , job] = documents as unknown as [
    { data: Record<string, string> },
    unknown,
    { spec: { jobTemplate: { spec: { template: { spec: { containers: { args: string[] }[] } } } } } },
  ];
  await parseExample(job.spec.jobTemplate.spec.template.spec.containers[0]?.args ?? []);
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-deploy-'));
  try {
    const file = path.join(folder, 'prices.yaml');
    await writeFile(file, map.data['prices.yaml'] ?? '');
    const env = { PRICELAKE_BASE_URL: 'https://api.example', PRICELAKE_API_KEY: 'key' };
    expect(await readPipeline(file, env)).toMatchObject({ lake: { path: '/lake' } });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the image has a supported Node.js version and runs our command', async () => {
  const text = await read('Dockerfile');
  const { engines } = JSON.parse(await readFile(packagePath('package.json'), 'utf8')) as { engines: { node: string } };
  const least = Number(/\d+/.exec(engines.node)?.[0]);
  for (const [, version] of text.matchAll(/^FROM node:(\d+)/gm)) expect(Number(version)).toBeGreaterThanOrEqual(least);
  expect(/^ENTRYPOINT (.*)$/m.exec(text)?.[1]).toBe('["pricelake"]');
  await parseExample(JSON.parse(/^CMD (.*)$/m.exec(text)?.[1] ?? '[]') as string[]);
});

test('crontab lines have five fields, a user and a command, and the units have the sections that systemd needs', async () => {
  const lines = (await read('crontab')).split('\n').filter((line) => line !== '' && !/^(#|\w+=)/.test(line));
  expect(lines.length).toBeGreaterThanOrEqual(2);
  for (const line of lines) expect(line).toMatch(/^(?:[\d*/,-]+ ){5}pricelake \S/);
  expect(await read('pricelake.service')).toMatch(/\[Service\]\nType=oneshot\n[\s\S]*^ExecStart=\/\S+ sync /m);
  expect(await read('pricelake.timer')).toMatch(
    /\[Timer\]\nOnCalendar=\S+\n[\s\S]*^\[Install\]\nWantedBy=timers\.target$/m,
  );
});

test('a failing unit notifies somebody, and a unit can write only to the lake', async (context) => {
  const units = ['pricelake.service', 'pricelake-webhook.service'];
  for (const name of units) {
    const text = await read(name);
    expect(text).toMatch(/^OnFailure=pricelake-failed@%n\.service$/m);
    const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-unit-'));
    try {
      await writeFile(path.join(folder, name), text);
      const args = ['security', '--offline=true', '--no-pager', path.join(folder, name)];
      const { stdout } = await run('systemd-analyze', args).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') context.skip();
        throw error;
      });
      expect(Number(/Overall exposure level for .*: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThan(4);
    } finally {
      await rm(folder, { recursive: true });
    }
  }
});

test('a crontab line prints only failures', async () => {
  const lines = (await read('crontab')).split('\n').filter((line) => /^[\d*]/.test(line));
  const [sync = ''] = lines.map((line) => line.replace(/^(?:\S+ ){6}/, ''));
  const said = async (code: number) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-cron-'));
    try {
      await writeFile(path.join(folder, 'pricelake'), `#!/bin/sh\necho rows\necho log >&2\nexit ${code}\n`, {
        mode: 0o755,
      });
      const command = sync.replaceAll('/etc/pricelake.env', '/dev/null').replaceAll('/var/log/pricelake', folder);
      return (await run('/bin/sh', ['-c', command], { env: { PATH: `${folder}:/usr/bin:/bin` } })).stdout;
    } finally {
      await rm(folder, { recursive: true });
    }
  };
  for (const code of [0, 6, 75]) expect([code, await said(code)]).toEqual([code, '']);
  expect(await said(3)).toBe('pricelake sync ended with 3\nlog\n');
});

test.each(['airflow_dag.py', 'airflow_shards.py', 'dagster_assets.py', 'prefect_flow.py'])(
  '%s is valid Python',
  async (name) => {
    const python = run('python3', [
      '-c',
      'import ast, sys; ast.parse(open(sys.argv[1], encoding="utf-8").read())',
      path.join(FOLDER, name),
    ]);
    await python.catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // a machine without Python
    });
  },
);
