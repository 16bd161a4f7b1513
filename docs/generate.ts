import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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

/** The pages that are generated whole, by path in the project. Of docs/guides/questions.md only the outputs are. */
export const GENERATED: Record<string, () => string | Promise<string>> = {
  'docs/reference/cli.md': renderCli,
  'docs/reference/tables.md': renderTables,
  'docs/reference/checks.md': renderChecks,
  'docs/reference/analyses.md': renderAnalyses,
  'docs/reference/errors.md': renderErrors,
  'docs/reference/pipeline.md': renderPipeline,
  'docs/reference/environment.md': renderEnvironment,
};

async function writeAll(): Promise<void> {
  for (const [file, render] of Object.entries(GENERATED)) writeFileSync(packagePath(file), await render());
  const lake = await makeQuestionLake();
  const questions = packagePath('docs/guides/questions.md');
  writeFileSync(questions, await renderQuestions(readFileSync(questions, 'utf8'), lake.folder));
  await lake.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeAll();
