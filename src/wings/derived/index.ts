import { DECLARED_TABLES, DERIVED_TABLES } from '../../tables/table.js';
import type { Wing } from '../wing.js';
import { deriveTables } from './derive.js';

/** The tables that follow from items alone: products, offers, spreads, matches. */
export const derived: Wing = { derivers: [{ tables: DERIVED_TABLES, reads: DECLARED_TABLES, derive: deriveTables }] };
