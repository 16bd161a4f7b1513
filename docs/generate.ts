import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderManPage } from '../src/cli/man-page.js';
import { EPILOGUE, readVersion } from '../src/cli/program.js';
import { packagePath } from '../src/io/package-path.js';
import { renderAnalyses } from './render/analyses.js';
import { renderChecks } from './render/checks.js';
import { renderCli } from './render/cli.js';
import { renderEnvironment } from './render/environment.js';
import { renderErrors } from './render/errors.js';
import { renderPipeline } from './render/pipeline.js';
import { makeQuestionLake } from './render/question-lake.js';
import { renderQuestions } from './render/questions.js';
import { renderTables } from './render/tables.js';
import { renderPicture } from './render/terminal-picture.js';
import { maskFigures, renderTutorial } from './render/tutorial.js';

/** Appends a note on how the page is generated. It comes last because readers first want to know what the page is about. */
const page = (render: () => string | Promise<string>) => async () =>
  `${(await render()).trimEnd()}\n\n_\`npm run docs\` generates this page._\n`;

/**
 * The pages that are generated completely, keyed by their path in the project. In docs/analyst/questions.md and
 * docs/tutorial.md, only the outputs are generated.
 */
export const GENERATED: Record<string, () => string | Promise<string>> = {
  'docs/reference/cli.md': page(renderCli),
  'docs/reference/tables.md': page(renderTables),
  'docs/reference/checks.md': page(renderChecks),
  'docs/reference/analyses.md': page(renderAnalyses),
  'docs/reference/errors.md': page(renderErrors),
  'docs/reference/pipeline.md': page(renderPipeline),
  'docs/reference/environment.md': page(renderEnvironment),
  'man/pricelake.1': () => renderManPage(readVersion(), EPILOGUE),
  'docs/images/spread.svg': () => renderPicture(readFileSync(packagePath('docs/tutorial.md'), 'utf8')),
};

async function writeAll(): Promise<void> {
  await writeTutorial();
  for (const [file, render] of Object.entries(GENERATED)) writeFileSync(packagePath(file), await render());
  const lake = await makeQuestionLake();
  const questions = packagePath('docs/analyst/questions.md');
  writeFileSync(questions, await renderQuestions(readFileSync(questions, 'utf8'), lake.folder));
  await lake.close();
}

/** Writes the page only if something meaningful has changed. */
async function writeTutorial(): Promise<void> {
  const page = packagePath('docs/tutorial.md');
  const text = readFileSync(page, 'utf8');
  const rendered = await renderTutorial(text);
  if (maskFigures(rendered) !== maskFigures(text)) writeFileSync(page, rendered);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeAll();
