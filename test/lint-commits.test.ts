import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packagePath } from '../src/io/package-path.js';

const WHY = 'Otherwise a reader has to guess.';

test.each([
  ['Retry the store for 12 s so a short outage can’t end a run', WHY, undefined],
  ['Retry the store', '', 'does not say why'],
  ['The store is tried again', WHY, 'does not begin with a verb'],
  ['retry the store', WHY, 'is not a capitalized sentence'],
  ['Retry the store.', WHY, 'is not a capitalized sentence'],
  [`Retry the store ${'again and '.repeat(6)}again`, WHY, 'has 81 characters'],
])('lint:commits checks the commit "%s"', (subject, body, fault) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pricelake-commits-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(packagePath('.ci'), path.join(folder, '.ci'), { recursive: true });
  const date = '2099-01-01T00:00:00Z';
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
      cwd: folder,
      env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    });
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '-m', subject, '-m', body);
  const { status, stdout } = spawnSync(path.join(folder, '.ci/lint-commits.sh'), { encoding: 'utf8' });
  expect(status).toBe(fault === undefined ? 0 : 1);
  if (fault !== undefined) expect(stdout).toContain(fault);
});
