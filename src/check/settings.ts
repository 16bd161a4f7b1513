import { PricelakeError } from '../errors.js';
import type { Severity } from '../model.js';
import { suggestName } from '../suggest-name.js';
import { type Check, type CheckSettings, explainMisfit, type ParameterValue } from './check.js';

/** A check as it is to run: settings applied. */
export interface PlannedCheck {
  check: Check;
  severity: Severity;
  /** By parameter name. */
  values: Record<string, ParameterValue>;
}

/**
 * Applies settings; checks that are off are left out.
 * @throws PricelakeError `config` for an unknown check or parameter (with a suggestion) or a value of another type.
 */
export function planChecks(checks: readonly Check[], settings: CheckSettings): PlannedCheck[] {
  const names = checks.map(({ name }) => name);
  for (const name of Object.keys(settings)) {
    if (!names.includes(name)) throw explainUnknown(`checks.${name}: no such check`, name, names);
  }
  return checks.flatMap((check) => {
    const setting = settings[check.name];
    const severity = setting?.severity ?? check.severity;
    const values = mergeParameters(check, setting?.parameters ?? {});
    return severity === 'off' ? [] : [{ check, severity, values }];
  });
}

function mergeParameters(check: Check, given: Record<string, ParameterValue>): Record<string, ParameterValue> {
  const at = `checks.${check.name}.parameters`;
  const names = check.parameters.map(({ name }) => name);
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) throw explainUnknown(`${at}.${name}: no such parameter`, name, names);
  }
  return Object.fromEntries(
    check.parameters.map((parameter) => {
      const value = given[parameter.name] ?? parameter.default;
      const misfit = explainMisfit(value, parameter.type);
      if (misfit !== undefined) throw new PricelakeError('config', `${at}.${parameter.name}: ${misfit}`);
      return [parameter.name, value];
    }),
  );
}

/** For names that people type: the nearest known one as a hint, else all of them. */
export function explainUnknown(message: string, name: string, known: readonly string[]): PricelakeError {
  const near = suggestName(name, known);
  const all = known.length === 0 ? 'There are none.' : `Known: ${known.join(', ')}.`;
  return new PricelakeError('config', message, { hint: near === undefined ? all : `Did you mean ${near}?` });
}
