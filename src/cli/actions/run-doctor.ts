import { findPipeline } from '../../config/find-pipeline.js';
import { type Pipeline, readPipeline } from '../../config/pipeline-file.js';
import { PricelakeError } from '../../errors/errors.js';
import { layOutTable } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import type { CommandContext, CommandReport } from '../run-command.js';
import { paint } from '../style.js';
import { lookAtDisk, lookAtFileSystem } from './doctor-disk.js';
import type { Finding } from './doctor-finding.js';
import { lookAtLake, lookAtRemote } from './doctor-lake.js';
import { lookAtService } from './doctor-service.js';

export interface DoctorRequest {
  pipeline?: string | undefined;
  lake?: string | undefined;
}

/**
 * Looks at everything that a sync needs. Makes one call, and changes nothing.
 * @throws PricelakeError `check_failed` when something failed
 */
export async function runDoctor(request: DoctorRequest, context: CommandContext): Promise<CommandReport> {
  const findings: Finding[] = [lookAtNode()];
  const pipeline = await openPipeline(request, context).catch(toFinding('pipeline'));
  if ('state' in pipeline) findings.push(pipeline);
  else {
    findings.push({ name: 'pipeline', state: 'ok', found: pipeline.file });
    const { path } = pipeline.lake;
    const looks: [string, () => Promise<Finding[]>][] = [
      ['disk', () => lookAtDisk(path)],
      ['file system', () => lookAtFileSystem(path)],
      ['service', () => lookAtService(pipeline, context)],
      ['lake', () => lookAtLake(path, context)],
      ['remote', () => lookAtRemote(pipeline, context)],
    ];
    for (const [name, look] of looks) findings.push(...(await look().catch((error) => [toFinding(name)(error)])));
  }
  if (!context.json) await context.output.write(formatFindings(findings, context));
  const failed = findings.filter(({ state }) => state === 'failed');
  if (failed.length === 0) return { findings };
  const names = failed.map(({ name }) => name).join(', ');
  throw new PricelakeError(
    'check_failed',
    `${failed.length === 1 ? '1 problem' : `${failed.length} problems`}: ${names}`,
    {
      findings,
    },
  );
}

function lookAtNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  const found = `${process.versions.node} on ${process.platform}`;
  return isOld
    ? { name: 'node', state: 'failed', found, next: 'Install Node 20.19 or newer.' }
    : { name: 'node', state: 'ok', found };
}

async function openPipeline({ pipeline: named, lake }: DoctorRequest, { io }: CommandContext): Promise<Pipeline> {
  const pipeline = await readPipeline(await findPipeline(named, process.env), process.env);
  io.protectSecret(pipeline.source.apiKey);
  if (lake !== undefined) pipeline.lake.path = lake;
  return pipeline;
}

/** An error, with the hint that a command would print. */
function toFinding(name: string): (error: unknown) => Finding {
  return (error) => {
    if (!(error instanceof Error) || (error instanceof PricelakeError && error.code === 'stopped')) throw error;
    const next = error instanceof PricelakeError ? error.facts.hint : undefined;
    return { name, state: 'failed', found: error.message, next };
  };
}

function formatFindings(findings: Finding[], { output: { columns }, style, io }: CommandContext): string {
  const rows = findings.map(({ name, state, found }) => [
    state === 'failed' ? 'FAILED' : state,
    name,
    io.redact(toPlainLine(found)),
  ]);
  const table = layOutTable(['', 'what', 'found'], rows, ['left', 'left', 'left'], columns);
  const steps = findings.flatMap(({ name, next }) => (next === undefined ? [] : [`${name} → ${toPlainLine(next)}\n`]));
  return (
    paint(table, [/^FAILED/gmu, style.bad], [/^warn/gmu, style.warn], [/^ok/gmu, style.good]) +
    (steps.length === 0 ? '' : `\n${steps.join('')}`)
  );
}
