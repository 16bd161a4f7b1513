/** The long tests check each property with this many times the inputs. */
export const RUNS_FACTOR = Number(process.env.RUNS_FACTOR ?? 1);
