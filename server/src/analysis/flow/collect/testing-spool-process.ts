// A process with a spool, for tests that kill it. Its store is a folder with a file for each token, as a store with deduplication has rows for each.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSpool } from './spool.ts'

const [dir, stored] = process.argv.slice(2) as [string, string]
const spool = createSpool({
  dir,
  bytesMax: 1e9,
  staleMs: -1000,
  async insert(block, token) {
    const path = join(stored, token)
    writeFileSync(`${path}.tmp`, block)
    await sleep(Math.random() * 3)
    renameSync(`${path}.tmp`, path)
    await sleep(Math.random() * 3)
  },
})
process.stdout.write('started')
spool.start()
await spool.drained()
await spool.stop(1000)
