import { expectTypeOf, test } from 'vitest';
import type * as z from 'zod';
import type { explainWhy } from '../../../src/cli/actions/explain-why.js';
import type { loadWarehouse } from '../../../src/cli/actions/load-warehouse.js';
import type { runCheckCommand } from '../../../src/cli/actions/run-check.js';
import type { runCompact } from '../../../src/cli/actions/run-compact.js';
import type { runDoctor } from '../../../src/cli/actions/run-doctor.js';
import type { runRebuild } from '../../../src/cli/actions/run-rebuild.js';
import type { runRestore } from '../../../src/cli/actions/run-restore.js';
import type { runVerify } from '../../../src/cli/actions/run-verify.js';
import type { showPlan } from '../../../src/cli/actions/show-plan.js';
import type { showSchema } from '../../../src/cli/actions/show-schema.js';
import type { showStatus } from '../../../src/cli/actions/show-status.js';
import type { writePipeline } from '../../../src/cli/actions/write-pipeline.js';
import type { doctorResult, initResult, planResult } from '../../../src/cli/results/copy.js';
import type {
  compactResult,
  loadResult,
  rebuildResult,
  restoreResult,
  verifyResult,
} from '../../../src/cli/results/keep.js';
import type { checkResult, schemaResult, statusResult } from '../../../src/cli/results/read.js';
import type { whyResult } from '../../../src/cli/results/why.js';

// biome-ignore lint/suspicious/noExplicitAny: any action
type ReportOf<Action extends (...given: any[]) => Promise<unknown>> = Exclude<Awaited<ReturnType<Action>>, undefined>;

test("the type of each action's result fits its schema", () => {
  expectTypeOf<ReportOf<typeof showPlan>>().toExtend<z.input<typeof planResult>>();
  expectTypeOf<ReportOf<typeof showStatus>>().toExtend<z.input<typeof statusResult>>();
  expectTypeOf<ReportOf<typeof runCheckCommand>>().toExtend<z.input<typeof checkResult>>();
  expectTypeOf<ReportOf<typeof explainWhy>>().toExtend<z.input<typeof whyResult>>();
  expectTypeOf<ReportOf<typeof runVerify>>().toExtend<z.input<typeof verifyResult>>();
  expectTypeOf<ReportOf<typeof runCompact>>().toExtend<z.input<typeof compactResult>>();
  expectTypeOf<ReportOf<typeof runRebuild>>().toExtend<z.input<typeof rebuildResult>>();
  expectTypeOf<ReportOf<typeof runRestore>>().toExtend<z.input<typeof restoreResult>>();
  expectTypeOf<ReportOf<typeof runDoctor>>().toExtend<z.input<typeof doctorResult>>();
  expectTypeOf<ReportOf<typeof writePipeline>>().toExtend<z.input<typeof initResult>>();
  expectTypeOf<ReportOf<typeof showSchema>>().toExtend<z.input<typeof schemaResult>>();
  expectTypeOf<ReportOf<typeof loadWarehouse>>().toExtend<z.input<typeof loadResult>>();
});
