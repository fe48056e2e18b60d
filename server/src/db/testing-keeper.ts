// The process that owns the test server: it ends after no test has used it for some seconds, and removes the data.
// Started by testing.ts, detached; several may start together, of which one stays.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { startEmbedded } from './embedded.ts'
import { USERS_LOCK } from './testing.ts'

const POLL_MS = 250
const UNUSED_MS = 10_000

const folder = process.argv[2]!
let unusedMaxMs = UNUSED_MS
process.on('SIGTERM', () => (unusedMaxMs = 0))
process.on('SIGINT', () => (unusedMaxMs = 0))

const embedded = await startEmbedded({ dataDir: join(folder, 'postgres'), temporary: true })
if (embedded.started) {
  writeFileSync(join(folder, 'keeper.pid'), String(process.pid))
  await untilUnused()
  await embedded.stop()
}

async function untilUnused(): Promise<void> {
  const client = new Client({ connectionString: embedded.databaseUrl.replace('/pharos?', '/postgres?') })
  client.on('error', () => process.exit(1))
  await client.connect()
  for (let unusedMs = 0; ; unusedMs += POLL_MS) {
    const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [
      USERS_LOCK,
    ])
    if (!rows[0]!.alone) unusedMs = 0
    else if (unusedMs >= unusedMaxMs) break
    else await client.query('select pg_advisory_unlock($1)', [USERS_LOCK])
    await sleep(POLL_MS)
  }
  // A process that starts now waits for the lock, loses its connection with the server, and starts the next one.
  client.removeAllListeners('error')
  client.on('error', () => {})
}
