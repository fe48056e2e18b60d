// The states of the cross connects of the demo, and a file about a device: the platform file has neither.
import type { CrossConnectStatus } from '@pharos/contract/inventory/cross-connect'
import { sql } from 'kysely'
import type { Db } from '../../server/src/db/postgres.ts'
import { fileOf } from '../../server/src/inventory/attachment/attachment.ts'
import { insertAttachment } from '../../server/src/inventory/attachment/attachment.store.ts'
import { saveMove } from '../../server/src/inventory/cross-connect/cross-connect.store.ts'

/** The states that each went through, after `reserved`. */
const moves: Readonly<Record<string, readonly CrossConnectStatus[]>> = {
  'XC-FRA-0007': ['awaiting_connect', 'connected'],
  'XC-FRA-0008': ['awaiting_loa'],
  'XC-AMS-0031': ['awaiting_connect'],
}
const noteOf: Readonly<Partial<Record<CrossConnectStatus, string>>> = {
  awaiting_loa: 'The data center asks for your letter before it connects the cable.',
  awaiting_connect: 'Ordered at the data center.',
}

const testSheet = { device: 'edge1.ams', filename: 'fibre-test.csv' }

/** Skips cross connects that were moved before. */
export async function addDemoInventory(db: Db, readDemo: (file: string) => string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number; team_id: number; circuit_id: string }>`
      select id, team_id, circuit_id from cross_connects x where x.status = 'reserved' and not exists (
        select from cross_connect_log l where l.cross_connect_id = x.id)`.execute(trx)
    for (const { id, team_id: teamId, circuit_id: circuit } of rows) {
      let before: CrossConnectStatus = 'reserved'
      for (const after of moves[circuit] ?? []) {
        await saveMove(trx, { id, teamId, before, after, note: noteOf[after] ?? '', actor: 'operator' })
        before = after
      }
    }
    const { rows: devices } = await sql<{ id: number }>`
      select id from devices d where d.name = ${testSheet.device} and not exists (
        select from attachments a where a.subject_kind = 'device' and a.subject_id = d.id::text)`.execute(trx)
    for (const { id } of devices)
      await insertAttachment(trx, {
        customerId: null,
        subject: { kind: 'device', id },
        purpose: '',
        description: 'Fibre test of the uplinks',
        createdBy: 'operator',
        ...fileOf({ filename: testSheet.filename, bytes: Buffer.from(readDemo(testSheet.filename)) }),
      })
  })
}
