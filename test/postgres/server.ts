import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg, { type Client } from 'pg';

/** A PostgreSQL server of its own in a temporary folder, reached by a socket there. */
export interface Server {
  env: Record<string, string>;
  connect(): Promise<Client>;
  close(): Promise<void>;
}

/** Debian keeps the server's programs out of PATH. */
function findPrograms(): string {
  const root = '/usr/lib/postgresql';
  const [newest] = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  if (newest === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  return path.join(root, newest, 'bin');
}

/** The server refuses to run as root: there its own user runs it. */
function findUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

export async function startServer(): Promise<Server> {
  const programs = findPrograms();
  const user = findUser();
  const folder = mkdtempSync(path.join(tmpdir(), 'pricelake-pg-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const options = { ...user, cwd: folder, stdio: 'ignore' as const };
  const data = path.join(folder, 'data');
  execFileSync(
    path.join(programs, 'initdb'),
    ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    options,
  );
  const server = spawn(
    path.join(programs, 'postgres'),
    ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'],
    options,
  );
  const env = { PGHOST: folder, PGUSER: 'tester', PGDATABASE: 'postgres' };
  await waitUntilReady(programs, folder, server);
  return {
    env,
    connect: async () => {
      const client = new pg.Client({ connectionString: `postgres://tester@/postgres?host=${folder}` });
      await client.connect();
      return client;
    },
    close: async () => {
      server.kill('SIGINT');
      await once(server, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function waitUntilReady(programs: string, folder: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`);
    try {
      execFileSync(path.join(programs, 'pg_isready'), ['-h', folder, '-q']);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error('postgres does not answer');
}
