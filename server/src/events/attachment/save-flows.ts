// The body of the loop that saves the flows of ended events as files, because flows are stored for days and events
// permanently. Without a flow store no file is saved, and the events are tried again for a day.
import { createHash } from 'node:crypto'
import type { Db } from '../../db/postgres.ts'
import { DriverError, QueryTooExpensive } from '../../runtime/driver-error.ts'
import type { FlowStore } from '../../flow/flow-store.ts'
import { insertEventFile } from './event-attachment.store.ts'
import { eventFlowsStatement, flowsFile, type EndedEvent, type SelectedRow } from './flows-file.ts'
import { listEventsWithoutFlows, markFlowsSaved } from './save-flows.store.ts'

/** Collectors may have flows of the end in their spool. */
const settledMs = 5 * 60_000
const triedMs = 86_400_000
const batch = 20

/** Returns how many files were saved. */
export async function saveFlowsOfEvents(
  db: Db,
  flowStore: FlowStore,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  const [from, until] = [triedMs, settledMs].map((ms) => new Date(now.getTime() - ms))
  let saved = 0
  for (;;) {
    const events = await listEventsWithoutFlows(db, from!, until!, batch)
    for (const event of events) {
      if (signal?.aborted) return saved
      const rows = await readFlows(flowStore, event)
      if (rows === 'unavailable') return saved
      if (await saveFlows(db, event, rows)) saved++
    }
    if (events.length < batch) return saved
  }
}

/** An event whose flows are too many to be read is done without a file: it would stop all others. */
async function readFlows(flowStore: FlowStore, event: EndedEvent): Promise<SelectedRow[] | 'unavailable'> {
  const { sql, params, limits } = eventFlowsStatement(event)
  try {
    return await flowStore.query<SelectedRow>(sql, params, limits)
  } catch (error) {
    if (error instanceof QueryTooExpensive) return []
    if (error instanceof DriverError) return 'unavailable'
    throw error
  }
}

/** The mark and the file are one transaction: a process that is killed before leaves the event to the next run. */
function saveFlows(db: Db, event: EndedEvent, rows: readonly SelectedRow[]): Promise<boolean> {
  const file = flowsFile(rows)
  return db.transaction().execute(async (trx) => {
    if (!(await markFlowsSaved(trx, event)) || !file) return false
    await insertEventFile(trx, {
      ...file,
      eventId: event.eventId,
      teamId: event.teamId,
      sha256: createHash('sha256').update(file.bytes).digest(),
      description: 'The largest flows during the attack',
      createdBy: 'pharos',
    })
    return true
  })
}
