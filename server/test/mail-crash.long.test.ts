// The process that sends mails is killed while it hands one over: after the restart the mail is sent, exactly once.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createTestDatabase } from '../src/db/testing.ts'
import { startSmtpServer } from '../src/drivers/mail/testing-smtp.ts'
import { queueMail } from '../src/mail/mail.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { ServerProcess } from './support/server-process.ts'

const secret = 'a-secret-of-at-least-thirty-two-bytes'

test('a mail whose sender was killed is sent by the next process, after the lease and once', async (t) => {
  const smtp = await startSmtpServer()
  t.after(() => smtp.stop())
  await using database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'pharos-mail-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { owner } = database.postgres
  const server = await ServerProcess.create({
    folder,
    settings: {
      DATABASE_URL: database.databaseUrl,
      PHAROS_SECRET: secret,
      PHAROS_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
      PHAROS_MAIL_FROM: 'noreply@net.example',
      PHAROS_DATA_DIR: folder,
    },
  })
  t.after(() => server.kill())
  smtp.setRelay('silent')
  await server.start().catch((error: Error) => assert.fail(`${error.message}: ${server.lastOutput}`))
  await queueMail(owner, createKeyRing([secret]), {
    to: 'anna@customer.example',
    teamId: null,
    template: 'password-changed',
    content: { at: new Date().toISOString(), address: '192.0.2.1' },
  })
  const row = async () => {
    const { rows } = await sql<{ attempts: number; sent: Date | null; failed: Date | null; is_due: boolean }>`
      select attempts, sent, failed, due <= now() as is_due from mails`.execute(owner)
    return rows[0]!
  }
  while ((await row()).attempts === 0) await sleep(20)
  await server.kill('SIGKILL')
  assert.deepEqual(await row(), { attempts: 1, sent: null, failed: null, is_due: false })
  smtp.setRelay('open')
  smtp.dropConnections()
  // Simulates the end of the lease.
  await sql`update mails set due = now()`.execute(owner)
  await server.start()
  while ((await row()).sent === null) await sleep(20)
  assert.equal(smtp.mails.length, 1, server.lastOutput)
  assert.equal((await row()).attempts, 2)
})
