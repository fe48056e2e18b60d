// The body of the loop that matches past events against resources that were added, changed or deleted. The ingest loop
// only matches new deliveries; changes on the teams' side are handled here.
//
// A changed resource has `matched = false`, a deleted one is in removed_resources (both set by triggers). For each, the
// candidate events are events on networks that overlap it and events already related to it. They are locked, matched
// completely again and written, some hundred per transaction. The work is idempotent, so a killed run is simply
// repeated. After the last batch the resource is marked as matched, unless it has changed again. The relationships of a
// deleted resource are thus deleted by the next run, some seconds later.
import type { OwnershipCache } from '../../inventory/holding/ownership.ts'
import type { Db, Postgres } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import { firstCursor, listEventsAround, listEventsInside, lockEvents } from '../event/event.store.ts'
import type { EventCursor } from '../event/event.store.ts'
import { relateEvents } from './relationship.ts'
import { listEventsOfResource } from './relationship.store.ts'
import {
  deleteRemovedResource,
  listRemovedResources,
  listUnmatchedResources,
  markMatched,
} from './rematch.store.ts'
import type { ChangedResource } from './rematch.store.ts'

export type RematchReport = { readonly resources: number; readonly events: number }

const resourcesAtOnce = 100
const batchDefault = 500

/** Runs until no resource is left to match, or the signal is aborted. `batch`: events per transaction. */
export async function rematch(
  postgres: Postgres,
  ownershipCache: OwnershipCache,
  signal?: AbortSignal,
  batch = batchDefault,
): Promise<RematchReport> {
  const db = postgres.owner
  const report = { resources: 0, events: 0 }
  for (;;) {
    const removed = await listRemovedResources(db, resourcesAtOnce)
    const changed = await listUnmatchedResources(db, resourcesAtOnce)
    const before = report.resources
    for (const resource of [...removed, ...changed]) {
      if (signal?.aborted) return report
      report.events += await rematchEvents(db, ownershipCache, resource, batch)
      if (resource.version === undefined) await deleteRemovedResource(db, resource)
      else if (!(await markMatched(db, resource, resource.version))) continue
      report.resources++
    }
    // A resource that keeps changing is left to the next run.
    if (report.resources === before) return report
  }
}

async function rematchEvents(
  db: Db,
  ownershipCache: OwnershipCache,
  resource: ChangedResource,
  batch: number,
): Promise<number> {
  let events = 0
  for await (const ids of eventsOf(db, resource, batch)) {
    await ownershipCache.refresh(db)
    await db.transaction().execute(async (trx) => {
      const ownership = await ownershipCache.lock(trx)
      const locked = await lockEvents(trx, ids.toSorted())
      await relateEvents(
        trx,
        locked.map(({ event }) => event),
        ownership,
        { isObserved: false },
      )
    })
    events += ids.length
  }
  return events
}

/** Ids of the events that the resource concerns, or did before. */
async function* eventsOf(db: Db, resource: ChangedResource, batch: number): AsyncGenerator<string[]> {
  yield* relatedEvents(db, resource, batch)
  for (const prefix of resource.prefixes) {
    yield* eventsOn(db, prefix, batch, listEventsInside)
    yield* eventsOn(db, prefix, batch, listEventsAround)
  }
}

async function* relatedEvents(
  db: Db,
  { kind, id }: ChangedResource,
  batch: number,
): AsyncGenerator<string[]> {
  for (let last = ''; ;) {
    const ids = await listEventsOfResource(db, kind, id, last, batch)
    if (ids.length > 0) yield ids
    if (ids.length < batch) return
    last = ids.at(-1)!
  }
}

async function* eventsOn(
  db: Db,
  prefix: Prefix,
  batch: number,
  list: typeof listEventsInside,
): AsyncGenerator<string[]> {
  for (let cursor: EventCursor = firstCursor; ;) {
    const found = await list(db, prefix, cursor, batch)
    if (found.length > 0) yield [...new Set(found.map(({ id }) => id))]
    if (found.length < batch) return
    cursor = found.at(-1)!
  }
}
