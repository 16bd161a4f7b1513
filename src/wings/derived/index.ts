import { DECLARED_TABLES, DERIVED_TABLES } from '../../tables/table.js';
import type { Wing } from '../wing.js';
import { deriveTables } from './derive.js';

export const derived: Wing = { derivers: [{ tables: DERIVED_TABLES, reads: DECLARED_TABLES, derive: deriveTables }] };
