import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { MessageData } from '@pharos/contract/messages/webhook-message'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { ingestDeliveries } from '../ingest/ingest.ts'
import { incidentMessageTypes, reportIncidents } from './report-incidents.ts'
import { addPrefix, addSource, addTeam, deliver } from '../testing.ts'

const figures = {
  start_at: new Date('2026-03-01T10:00:00Z'),
  end_at: null as Date | null,
  affected_bps: 10,
  affected_pps: 1,
  event_count: 1,
  sources: ['edge'],
}
const report = { ...figures, team_id: 1, incident_id: 'a' }
const ended = { end_at: new Date('2026-03-01T10:20:00Z') }
const typesOf = (change: object, reports: readonly (typeof report)[]) =>
  incidentMessageTypes({ ...figures, ...change, id: 'a', reports })

describe('an incident', () => {
  it('is reported when it starts and ends, and when a figure differs from the last message', () => {
    assert.deepEqual(typesOf({}, []), ['incident.started'])
    assert.deepEqual(typesOf(ended, []), ['incident.started', 'incident.ended'])
    assert.deepEqual(typesOf({}, [report]), [])
    assert.deepEqual(typesOf({ sources: ['edge', 'flows'], event_count: 2 }, [report]), ['incident.updated'])
    assert.deepEqual(typesOf({ affected_bps: 11 }, [report]), ['incident.updated'])
    assert.deepEqual(typesOf(ended, [report]), ['incident.ended'])
    assert.deepEqual(typesOf({}, [{ ...report, ...ended }]), ['incident.updated'])
    assert.deepEqual(typesOf({}, [{ ...report, incident_id: 'b' }]), ['incident.started'])
  })
})

describe('messages about incidents', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database[Symbol.asyncDispose]())

  /** Reports the new rows of the outbox, and returns the messages. */
  async function follow(): Promise<string[]> {
    return await database.postgres.owner.transaction().execute(async (trx) => {
      type Row = { type: string; teamId: number; data: MessageData<'incident.started'> }
      const read = () =>
        sql<Row>`delete from outbox returning type, team_id as "teamId", data`
          .execute(trx)
          .then(({ rows }) => rows)
      await reportIncidents(trx, await read())
      return (await read()).map(
        ({ type, data }) =>
          `${type} ${data.network} ${data.sources.join()} ${data.event_count} ${data.affected_bps}${data.merged_into === null ? '' : ' merged'}`,
      )
    })
  }

  it('are one for the detectors of an attack, and say when one incident takes over another', async () => {
    const db = database.postgres.owner
    await addPrefix(db, await addTeam(db, 'a'), '203.0.113.0/24')
    const fields = { id: '/id', network: '/ip', bps: '/rate', status: '/status' }
    for (const key of ['edge', 'flows']) await addSource(db, key, { kind: 'generic', settings: { fields } })
    const send = async (source: string, ...bodies: object[]) => {
      await deliver(db, source, bodies)
      await ingestDeliveries(database.postgres, createOwnershipCache())
      return await follow()
    }
    assert.deepEqual(
      await send(
        'edge',
        { id: '1', ip: '203.0.113.7', rate: 5 },
        { id: '2', ip: '203.0.113.8', rate: 6 },
      ).then((all) => all.toSorted()),
      ['incident.started 203.0.113.7/32 edge 1 5', 'incident.started 203.0.113.8/32 edge 1 6'],
    )
    assert.deepEqual((await send('flows', { id: '3', ip: '203.0.113.0/28', rate: 9 })).toSorted(), [
      'incident.updated 203.0.113.0/28 edge,flows 3 11',
      'incident.updated 203.0.113.0/28 edge,flows 3 11 merged',
    ])
    assert.deepEqual(await send('edge', { id: '1', ip: '203.0.113.7', rate: 5, status: 'ended' }), [])
    const last = [
      { id: '2', ip: '203.0.113.8', status: 'ended' },
      { id: '3', ip: '203.0.113.0/28', status: 'ended' },
    ] as const
    assert.deepEqual(await send('edge', last[0]), [])
    assert.deepEqual(await send('flows', last[1]), ['incident.ended 203.0.113.0/28 edge,flows 3 11'])
  })
})
