// Passwords and tokens of users are stored only encrypted, in pending mails: not in the log and not in any other table.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { sql } from 'kysely'
import { createLog } from '../src/runtime/log.ts'
import { addTeam, createTestApi, testPassword, type TestApi } from './api.ts'
import { tokenMailedTo } from './support/mails.ts'
import { addPerson, createClient } from './support/test-user.ts'

let api: TestApi
const lines: string[] = []
before(async () => {
  const log = createLog({ logLevel: 'trace', logFormat: 'json' }, { write: (line) => void lines.push(line) })
  api = await createTestApi({}, { log })
})
after(() => api[Symbol.asyncDispose]())

/** Returns every row of every table, as text. */
async function readAllRows(): Promise<string> {
  const { owner } = api.database.postgres
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(
    owner,
  )
  const texts = await Promise.all(
    rows.map(({ name }) =>
      sql<{ row: string }>`select to_jsonb(t)::text as row from ${sql.table(name)} t`.execute(owner),
    ),
  )
  return texts.flatMap((table) => table.rows.map(({ row }) => row)).join('\n')
}

it('no password and no token is logged or stored', async () => {
  const team = await addTeam(api, 'red')
  const client = createClient(api)
  const { email } = await addPerson(api, team, { unconfirmed: true })
  const words = [
    'zebra-quilt-marmalade',
    'anvil-teapot-horizon',
    'wrong-yodel-basket',
    'violet-pickle-ladder',
  ]
  const [first, second, wrong, misplaced] = words as [string, string, string, string]

  await client.signIn(email)
  const confirm = await tokenMailedTo(api, email, 'confirm-email')
  await client.post('/confirm-email', { token: confirm })
  await client.post('/confirm-email', { token: `${confirm}x` })
  const { access, refresh } = await client.open(email)
  const changed = await client.post(
    '/change-password',
    { current_password: testPassword, new_password: first },
    access,
  )
  assert.equal(changed.status, 200)
  await client.post(
    '/change-password',
    { current_password: wrong, new_password: second },
    changed.body.access,
  )
  await client.post(
    '/change-password',
    { current_password: first, new_password: 'tiny' },
    changed.body.access,
  )
  const next = `next-${email}`
  await client.post('/change-email', { email: next, current_password: first }, changed.body.access)
  const change = await tokenMailedTo(api, next, 'confirm-email')
  await client.post('/password-reset', { email })
  await api.settled()
  const reset = await tokenMailedTo(api, email, 'password-reset')
  assert.equal(
    (await client.post('/password-reset/confirm', { token: reset, new_password: second })).status,
    200,
  )
  await client.signIn(email, wrong)
  await client.signIn(misplaced, email)
  const again = await client.open(email, second)

  assert.ok(lines.length > 10, 'the log is not empty')
  const written = [lines.join('\n'), await readAllRows()]
  const tokens = [confirm, change, reset, access, refresh, again.access, again.refresh, changed.body.refresh]
  const secrets = [...words, testPassword, ...tokens, ...tokens.map((token) => token.split('.').at(-1)!)]
  for (const text of written)
    for (const secret of secrets)
      assert.ok(!text.includes(secret), `${secret} occurs in ${text.slice(0, 40)}`)
})
