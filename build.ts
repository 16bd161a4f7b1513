import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

/**
 * `npm run build` compiles `src` to `dist`, and bundles the command and most of its packages into one CommonJS module.
 * Without the bundle, loading hundreds of modules would take most of a command's startup time.
 */

/** Packages that aren't bundled because they are native, optional, patched by src/verify, or used by few commands. */
const NOT_BUNDLED = [
  ...['@duckdb/node-bindings', 'parquetjs-lite', '@aws-sdk/*', 'pg', 'pg-copy-streams'],
  ...['apache-arrow', 'hono', 'hono/*', '@hono/*', '@modelcontextprotocol/*'],
];
/** ES modules that only the report loads. Each gets its own bundle, because a CommonJS module must `require` it. */
const CHARTS = ['vega', 'vega-lite'];

const root = fileURLToPath(new URL('.', import.meta.url));
const inRoot = (name: string) => path.join(root, name);
/** Must be as deep as `src/cli`, so that the relative paths in its modules also work in the bundle. */
const COMMAND = 'dist/cli';

const SHARED: BuildOptions & { metafile: true } = {
  absWorkingDir: root,
  outdir: COMMAND,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  minifyWhitespace: true,
  // Short lines keep stack traces readable. On one line, a trace would show the bundle's three million characters.
  lineLimit: 120,
  metafile: true,
  logLevel: 'warning',
};

const chartsApart: Plugin = {
  name: 'charts apart',
  setup({ onResolve }) {
    onResolve({ filter: /^vega(-lite)?$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: `./${path}.cjs`, external: true } : undefined,
    );
  },
};

/** The file that a build writes last. Its modification time is when the build started. */
const LAST = `${COMMAND}/LICENSES.txt`;

/** Returns true if no source has changed since the last build. A folder's time also changes if a file was deleted. */
export function isBuilt(): boolean {
  const builtAt = statSync(inRoot(LAST), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(inRoot('src'), { recursive: true, encoding: 'utf8' }).map((name) =>
    path.join('src', name),
  );
  const all = [
    'src',
    'build.ts',
    'tsconfig.json',
    'tsconfig.build.json',
    'package.json',
    'package-lock.json',
    ...sources,
  ];
  return all.every((name) => statSync(inRoot(name)).mtimeMs < builtAt);
}

/** Builds `dist`. Each bundle is replaced by a rename, so that another process never loads an incomplete file. */
export async function buildDist(): Promise<void> {
  const begun = new Date();
  execFileSync(inRoot('node_modules/.bin/tsc'), ['-p', inRoot('tsconfig.build.json')], { stdio: 'inherit' });
  const [bundles, entries] = await Promise.all([
    build({
      ...SHARED,
      write: false,
      entryPoints: { program: 'src/cli/program.ts', ...Object.fromEntries(CHARTS.map((name) => [name, name])) },
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      plugins: [chartsApart],
      external: NOT_BUNDLED,
      supported: { 'dynamic-import': false },
      alias: {
        // yargs depends on three copies of string-width, and each builds Unicode tables at startup.
        'string-width': inRoot('src/cli/output/display-width.ts'),
        // Charts are drawn as SVG. The Node.js version of this package would load a native canvas if one is installed.
        'vega-canvas': inRoot('node_modules/vega-canvas/build/vega-canvas.browser.js'),
      },
      define: { 'import.meta.url': 'importMetaUrl' },
      banner: { js: "'use strict';\nconst importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    }),
    build({
      ...SHARED,
      entryPoints: ['src/cli/main.ts'],
      format: 'esm',
      external: ['./program.js'],
    }),
  ]);
  for (const { path: file, text } of bundles.outputFiles) replaceFile(file, text);
  chmodSync(inRoot(`${COMMAND}/main.js`), 0o755);
  writeFileSync(inRoot(LAST), collectLicenses([bundles.metafile, entries.metafile]));
  utimesSync(inRoot(LAST), begun, begun);
}

function replaceFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}

/** Returns the license texts of all packages in the bundles. */
function collectLicenses(built: Metafile[]): string {
  const inputs = built.flatMap((one) => Object.keys(one.inputs));
  const folders = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(input) ?? []);
  return [...new Set(folders.map(readLicense))].sort().join('\n\n');
}

function readLicense(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(inRoot(`${folder}/package.json`), 'utf8'));
  const file = readdirSync(inRoot(folder)).find((entry) => /^licen[cs]e/iu.test(entry));
  const text = file === undefined ? '' : `\n\n${readFileSync(inRoot(`${folder}/${file}`), 'utf8').trim()}`;
  return `# ${name} ${version} (${license})${text}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(inRoot('dist'), { recursive: true, force: true });
  await buildDist();
}
