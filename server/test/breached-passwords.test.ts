// A configured list of breached passwords: its passwords are rejected wherever a password is set, and a server whose
// list is invalid does not start.
import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runRole } from '../src/process/serve.ts'
import { loadConfig } from '../src/runtime/config.ts'
import { silentLog } from '../src/runtime/log.ts'
import { addTeam, createTestApi, testPassword, type TestApi, type TestTeam } from './api.ts'
import { tokenMailedTo } from './support/mails.ts'
import { addPerson, createClient, type Client } from './support/test-user.ts'

const breached = 'seven green kettles sing'
const folder = mkdtempSync(join(tmpdir(), 'pharos-breached-'))
const file = join(folder, 'hashes.txt')
let api: TestApi
let team: TestTeam
let client: Client

before(async () => {
  const passwords = [breached, ...Array.from({ length: 5_000 }, (_, n) => `breached ${n}`)]
  const lines = passwords.map((one) => `${hash('sha1', one).toUpperCase()}:7`).toSorted()
  writeFileSync(file, lines.join('\r\n'))
  api = await createTestApi({ PHAROS_BREACHED_PASSWORDS_FILE: file })
  team = await addTeam(api, 'red')
  client = createClient(api)
})
after(async () => {
  await api[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const change = (access: string, new_password: string) =>
  client.post('/change-password', { current_password: testPassword, new_password }, access)

describe('a password of the list', () => {
  it('cannot be set', async () => {
    const { email } = await addPerson(api, team)
    const { access } = await client.open(email)
    const { status, body } = await change(access, breached)
    assert.equal(status, 422)
    assert.deepEqual(body.errors[0].loc, ['body', 'new_password'])
    assert.equal(body.errors[0].type, 'breached')
    assert.equal((await change(access, `${breached}!`)).status, 200)
  })

  it('cannot be set by a password reset either', async () => {
    const { email } = await addPerson(api, team)
    await client.post('/password-reset', { email })
    await api.settled()
    const token = await tokenMailedTo(api, email, 'password-reset')
    const { body } = await client.post('/password-reset/confirm', { token, new_password: breached })
    assert.equal(body.errors[0].type, 'breached')
  })
})

describe('an invalid list', () => {
  const start = (path: string) => {
    const config = loadConfig(
      {
        PHAROS_SECRET: randomBytes(32).toString('hex'),
        PHAROS_PORT: '0',
        PHAROS_BREACHED_PASSWORDS_FILE: path,
      },
      { read: () => undefined, mode: () => 0o600, create: () => {} },
    )
    return runRole(config, ['api'], silentLog, api.database.postgres)
  }

  it('prevents the server from starting, and is named in the error', async () => {
    const garbled = join(folder, 'garbled.txt')
    writeFileSync(garbled, 'these are not the hashes that you are looking for\n'.repeat(100))
    for (const path of [join(folder, 'missing.txt'), garbled, folder])
      await assert.rejects(start(path), (error: Error) => error.message.includes(path))
  })

  it('prevents all password changes if it is damaged while the server runs', async () => {
    const { email } = await addPerson(api, team)
    const { access } = await client.open(email)
    truncateSync(file, 1_000)
    const { status, body } = await change(access, 'blue kettle rainy tram')
    assert.equal(status, 503)
    assert.deepEqual(body.degraded, ['breached_passwords'])
    assert.equal((await client.signIn(email)).status, 200)
  })
})
