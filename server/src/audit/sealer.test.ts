import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { writeAudit } from '../db/audit.ts'
import { createTestDatabase } from '../db/testing.ts'
import { createWaker } from '../db/wake.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { formatHead, parseHead } from './head.ts'
import { findHead } from './seal.store.ts'
import { createSealer } from './sealer.ts'
import { anEntry } from './testing.ts'
import { verifyAudit } from './verify.ts'

test('one of several sealers seals the entries, the next takes over, and the head is logged', async () => {
  await using database = await createTestDatabase()
  const db = database.postgres.owner
  const ring = createKeyRing(['a secret of thirty-two bytes or more'])
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const { postgres } = database
  const deps = { postgres, waker: createWaker(postgres), ring, log, metrics: createMetrics() }
  const [first, second] = [createSealer(deps), createSealer(deps)]
  const sealedUpTo = async (sequence: number) => {
    while ((await findHead(db))?.sequence !== sequence) await sleep(20)
  }
  await writeAudit(db, anEntry)
  await first.start?.()
  await sealedUpTo(1)
  await second.start?.()
  await writeAudit(db, anEntry)
  await sealedUpTo(2)
  await first.stop?.()
  await writeAudit(db, anEntry)
  await sealedUpTo(3)
  await second.stop?.()
  const { right, brokenCount } = await verifyAudit({ db, ring })
  assert.deepEqual([right, brokenCount], [3, 0])
  const heads = lines.map((line) => JSON.parse(line) as { head?: string }).flatMap(({ head }) => head ?? [])
  assert.equal(parseHead(heads[0]!)?.sequence, 1)
  assert.equal(formatHead(parseHead(heads[0]!)!), heads[0])
})
