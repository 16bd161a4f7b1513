import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import type { Severity } from '../tables/table.js';
import { type Check, type CheckSettings, explainMisfit, type ParameterValue } from './check.js';

export interface ConfiguredCheck {
  check: Check;
  severity: Severity;
  values: Record<string, ParameterValue>;
}

/**
 * Applies the settings. Omits checks that are switched off.
 * @throws PricelakeError `config` for a value of the wrong type, or an unknown check or parameter; the error suggests a
 *   similar name
 */
export function configureChecks(checks: readonly Check[], settings: CheckSettings): ConfiguredCheck[] {
  const names = checks.map(({ name }) => name);
  for (const name of Object.keys(settings)) {
    if (!names.includes(name)) throw explainUnknown('checks', 'check', name, names);
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
    if (!names.includes(name)) throw explainUnknown(at, 'parameter', name, names);
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

/** Explains an unknown name. Quotes the name only if it is similar to a known name. Any other text may be a secret. */
function explainUnknown(at: string, kind: string, name: string, known: readonly string[]): PricelakeError {
  const near = suggestName(name, known);
  const all = known.length === 0 ? 'The check has no parameters.' : `Known: ${known.join(', ')}.`;
  return near === undefined
    ? new PricelakeError('config', `${at}: unknown ${kind}`, { hint: all })
    : new PricelakeError('config', `${at}.${name}: no such ${kind}`, { hint: `Did you mean ${near}?` });
}
