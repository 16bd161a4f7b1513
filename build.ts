import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

/**
 * npm run build: compiles `src` to `dist`, and bundles the command with the packages that each command loads. They are
 * 500 files, and finding them takes longer than all else before a command begins.
 */

/** Stay packages: native, patched in place (src/duckdb, src/lake), optional, or loaded by few commands. */
const NOT_BUNDLED = [
  ...[
    '@duckdb/node-bindings',
    'parquetjs-lite',
    '@aws-sdk/*',
    'pg',
    'pg-copy-streams',
    'apache-arrow',
    'vega',
    'vega-lite',
  ],
  ...['hyparquet', 'hyparquet-compressors', 'hono', 'hono/*', '@hono/*'],
];

const root = fileURLToPath(new URL('.', import.meta.url));
const inRoot = (name: string) => path.join(root, name);
/** Beside the compiled modules: what modules find by their own place is as far from there. */
const COMMAND = 'dist/cli';

/** Files are overwritten in place: other processes may use them. */
export async function buildDist(): Promise<void> {
  execFileSync(inRoot('node_modules/.bin/tsc'), ['-p', inRoot('tsconfig.build.json')], { stdio: 'inherit' });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/cli/main.ts'],
    outdir: COMMAND,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    external: NOT_BUNDLED,
    // yargs brings three copies, and each prepares for all of Unicode before a command begins.
    alias: { 'string-width': inRoot('src/cli/output/string-width.ts') },
    // Bundled CommonJS packages ask for Node's own modules.
    banner: {
      js: "import { createRequire as createRequireOf } from 'node:module';\nconst require = createRequireOf(import.meta.url);",
    },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  chmodSync(inRoot(`${COMMAND}/main.js`), 0o755);
  writeFileSync(inRoot(`${COMMAND}/LICENSES.txt`), collectLicences(metafile));
}

/** The licence texts of the packages in the bundle. */
function collectLicences({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(input) ?? []);
  return [...new Set(folders.map(readLicence))].sort().join('\n\n');
}

function readLicence(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(inRoot(`${folder}/package.json`), 'utf8'));
  const file = readdirSync(inRoot(folder)).find((entry) => /^licen[cs]e/iu.test(entry));
  const text = file === undefined ? '' : `\n\n${readFileSync(inRoot(`${folder}/${file}`), 'utf8').trim()}`;
  return `# ${name} ${version} (${license})${text}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(inRoot('dist'), { recursive: true, force: true });
  await buildDist();
}
