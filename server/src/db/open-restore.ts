// In SQL: whether no restore waits for staff. The gate (runtime/gate.ts) is asked before a run; a run that sends many rows takes minutes, so that each claim of
// rows asks too.
import { sql } from 'kysely'

export const noRestoreIsOpen = sql`not exists (select from restores where closed is null)`
