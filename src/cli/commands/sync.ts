import { declareCommand } from '../command.js';
import { duration, type Form, file, flag, text, value } from '../parameter.js';
import { CAPS, OWN_LAKE, PIPELINE, RESUME_HINT } from '../shared-options.js';

/** The text goes into the message of a run that it ends. */
const DEADLINE: Form<{ ms: number; text: string }> = {
  ...duration(),
  parse: (typed) => {
    const ms = duration().parse(typed);
    return ms === undefined ? undefined : { ms, text: typed };
  },
};

export const sync = declareCommand({
  name: 'sync',
  describe: 'Bring the lake up to date with the service',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: OWN_LAKE,
    publishHeld: flag('Publish the batch that a failed gate holds, without a call, and do nothing else'),
    reconcile: flag('Take a complete copy and compare it with the lake: repair what differs, mark what is gone'),
    landOnly: flag('Land what is new, and leave the tables as they are; the next sync continues from there', {
      excludes: ['publishHeld', 'metrics', 'openlineage'],
    }),
    ...CAPS,
    deadline: value(
      DEADLINE,
      'Stop at the next safe point after this time (90s, 20m, 2h), keep progress, and exit with 75',
    ),
    metrics: file("Write the run's metrics to this file (.prom) for the node exporter's textfile collector"),
    openlineage: text(
      'Send OpenLineage events to this file (one line each) or address; OPENLINEAGE_API_KEY is the bearer token',
    ),
  },
  examples: [
    ['pricelake sync', 'With prices.yaml in this folder: the first run copies everything, later ones what changed'],
    ['pricelake sync --reconcile', 'Compare everything with the service, and repair'],
    ['pricelake sync --max-overage 2', 'Let this run bill two blocks of 10,000 export rows'],
    ['pricelake sync /etc/prices.yaml --lake /data/lake --json', 'For schedulers: one JSON object on stdout'],
  ],
  notes:
    'If a run stops for any reason, run the same command again: it continues where it stopped. Nothing is published unless the gate checks pass.',
  stopHint: RESUME_HINT,
});
