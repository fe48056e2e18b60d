// `pharos restore compare-audit`: after a restore it names the access that came back.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { AuditEntry } from '@pharos/contract/team/audit'
import { sql } from 'kysely'
import { tamper } from '../src/audit/testing.ts'
import { CommandFailure } from '../src/commands/command.ts'
import { restore } from '../src/commands/restore.ts'
import { runCommand } from '../src/commands/testing.ts'
import { writeAudit } from '../src/db/audit.ts'
import { addWebhook } from '../src/webhook/testing.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken, openSession } from './support/credentials.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-compare-audit-'))
const file = join(folder, 'entries.jsonl')

let api: TestApi
let team: TestTeam
let authorization: string
let member: { readonly userId: number; readonly email: string }
/** The revoked token. */
let leaked: string
let webhook: number
/** The newest entry of the backup. */
let backedUp: number
before(async () => {
  api = await createTestApi()
  team = await addTeam(api, 'red')
  const admin = await addUser(api, 'admin', [team], { admin: true })
  member = await addUser(api, 'leaver', [team])
  await addApiToken(api, team.teamId)
  webhook = await addWebhook(db(), api.config.secret, team.teamId)
  authorization = `Bearer ${(await openSession(api, admin.userId, team.teamId)).access}`
  await call('PATCH', `/v3/webhooks/${webhook}`, { enabled: false })
  backedUp = await newest()
})
after(async () => {
  await api[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const db = () => api.database.postgres.owner

async function newest(): Promise<number> {
  const { rows } = await sql<{ id: number }>`select max(id) as id from audit_entries`.execute(db())
  return rows[0]!.id
}

async function call<T = unknown>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: object,
): Promise<T> {
  const headers = { authorization }
  const { statusCode, body } = await api.server.inject({
    method,
    url,
    headers,
    ...(payload ? { payload } : {}),
  })
  assert.ok(statusCode < 300, `${method} ${url}: ${statusCode} ${body}`)
  return (body === '' ? undefined : JSON.parse(body)) as T
}

/** Simulates a restored database: its later entries are missing, and their ids are given again. */
async function forgetAfter(id: number): Promise<void> {
  await tamper(
    db(),
    sql`delete from audit_unsealed where entry_id > ${id}`,
    sql`delete from audit_seals where entry_id > ${id}`,
    sql`delete from audit_entries where id > ${id}`,
    sql`select setval(pg_get_serial_sequence('audit_entries', 'id'), ${id})`,
  )
}

const write = (entries: readonly object[]) =>
  writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
const compare = () => runCommand(api.database, restore, 'compare-audit', file)

describe('a copy of the audit log', () => {
  /** From the API, and from the table as docs/operating/restore.md copies it. */
  let copies: readonly (readonly object[])[]
  before(async () => {
    const tokens = await call<{ results: { id: string }[] }>('GET', '/v3/tokens')
    leaked = tokens.results[0]!.id
    await call('DELETE', `/v3/tokens/${leaked}`)
    const members = await call<{ results: { id: number; email: string }[] }>(
      'GET',
      `/v3/teams/${team.teamId}/members`,
    )
    const { id } = members.results.find(({ email }) => email === member.email)!
    await call('DELETE', `/v3/teams/${team.teamId}/members/${id}`)
    await call('POST', `/v3/webhooks/${webhook}/rotate-secret`)
    await call('PATCH', `/v3/webhooks/${webhook}`, { enabled: true })
    const { results } = await call<{ results: AuditEntry[] }>('GET', '/v3/audit?limit=100')
    const { rows } = await sql<{ entry: object }>`
      select to_jsonb(e) - 'address' as entry from audit_entries e order by id`.execute(db())
    copies = [results, rows.map(({ entry }) => entry)]
  })

  it('has no entry that the database lacks before it is restored', async () => {
    for (const copy of copies) {
      write(copy)
      assert.match(await compare(), /^Not in the database: 0 of \d+ entries\.\n$/)
    }
  })

  it('names revoked tokens, removed members and rotated keys first, also if their ids were given again', async () => {
    await forgetAfter(backedUp)
    // The same action with the same id as the lost entry, about another token.
    await writeAudit(db(), {
      teamId: team.teamId,
      actor: 'operator',
      action: 'api_token.revoke',
      target: 'api_token:another',
    })
    assert.equal(await newest(), backedUp + 1)
    for (const [at, copy] of copies.entries()) {
      write(copy)
      const lines = (await compare()).split('\n')
      assert.match(
        lines[0]!,
        new RegExp(`^\\S+  api_token\\.revoke  api_token:${leaked} \\(test\\)  by user:\\d+$`),
      )
      assert.equal(lines[1], '  the token works again: revoke it')
      // The table has no addresses of people.
      const label = at === 0 ? ' \\(leaver@red\\.example\\)' : ''
      assert.match(lines[2]!, new RegExp(`^\\S+  member\\.remove  member:\\d+${label}  by user:\\d+$`))
      assert.equal(lines[3], '  the user is a member again: remove them')
      assert.match(lines[4]!, new RegExp(`^\\S+  webhook\\.rotate_secret  webhook:${webhook}  by user:\\d+$`))
      assert.equal(lines[5], '  the former secret signs again: rotate it')
      assert.match(lines[6]!, new RegExp(`^\\S+  webhook\\.update  webhook:${webhook}`))
      assert.match(lines[7]!, /^Not in the database: 4 of \d+ entries\.$/)
    }
  })

  it('does not report what the retention has deleted', async () => {
    const old = {
      id: 1,
      at: '2020-01-01T00:00:00Z',
      actor: 'operator',
      action: 'api_token.revoke',
      target: 'api_token:old',
    }
    await forgetAfter(backedUp)
    await tamper(db(), sql`delete from audit_unsealed`, sql`delete from audit_entries where id = 1`)
    await writeAudit(db(), {
      teamId: null,
      actor: 'pharos',
      action: 'audit.expire',
      target: 'audit',
      after: { first_sequence: 1, without_entry: [] },
    })
    write([old])
    assert.equal(
      await compare(),
      '1 entry was deleted by the retention.\nNot in the database: 0 of 1 entry.\n',
    )
  })
})

describe('another file', () => {
  it('is refused with the number of the line', async () => {
    const right = { id: 1, at: '2026-01-01T00:00:00Z', actor: 'operator', action: 'a.b', target: 'c:1' }
    for (const wrong of [
      'x',
      'null',
      '[]',
      '7',
      ...Object.keys(right).map((key) => JSON.stringify({ ...right, [key]: undefined })),
    ]) {
      writeFileSync(file, `${JSON.stringify(right)}\n\n${wrong}\n`)
      await assert.rejects(compare(), (error: Error) => {
        assert.ok(error instanceof CommandFailure)
        assert.equal(
          error.message,
          `${file}: Line 3 is no audit entry with id, at, actor, action and target.`,
        )
        return true
      })
    }
  })

  it('is refused if it does not exist', async () => {
    await assert.rejects(
      runCommand(api.database, restore, 'compare-audit', join(folder, 'none')),
      CommandFailure,
    )
  })
})
