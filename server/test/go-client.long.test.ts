// A client in Go that oapi-codegen (2.8 here) generates from the served document in OpenAPI 3.0. It is vetted, built
// and used against a server that listens. Modules come from the cache of this machine, without downloads.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { createTestApi, type TestApi } from './api.ts'
import { addApiToken } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

const run = promisify(execFile)
const program = join(import.meta.dirname, 'clients/go')
const offline = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=mod', GOWORK: 'off' }

/** Why the test cannot run here: neither program is a Debian package of the versions that it needs. */
function reasonToSkip(): string | false {
  for (const name of ['go', 'oapi-codegen'])
    if (spawnSync(name, ['--help']).error) return `${name} is not installed`
  const { status } = spawnSync('go', ['mod', 'verify'], { cwd: program, env: offline })
  return status === 0 ? false : 'github.com/oapi-codegen/runtime is not in the cache of Go modules'
}

describe('a program with the client of oapi-codegen', { skip: reasonToSkip() }, () => {
  let api: TestApi
  let fixtures: Fixtures
  let folder: string

  before(async () => {
    api = await createTestApi()
    fixtures = await createFixtures(api)
    folder = mkdtempSync(join(tmpdir(), 'go-client-'))
  })
  after(async () => {
    await api?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is generated and compiled without a warning, and reads with its token', async () => {
    cpSync(program, folder, { recursive: true })
    const { body } = await api.server.inject('/v3/openapi-3.0.json')
    writeFileSync(join(folder, 'openapi.json'), body)
    const options = { cwd: folder, env: offline }
    await run('oapi-codegen', ['-config', 'oapi-codegen.yaml', 'openapi.json'], options)
    await run('go', ['vet', './...'], options)
    await run('go', ['build', '-o', 'client', '.'], options)
    const scopes = ['ipam:read']
    const token = await addApiToken(api, fixtures.red.teamId, { scopes })
    const url = await api.server.listen({ port: 0, host: '127.0.0.1' })
    const { stdout } = await run('./client', [], {
      cwd: folder,
      env: { PHAROS_URL: url, PHAROS_TOKEN: token },
    })
    const printed = JSON.parse(stdout) as {
      scopes: string[]
      hasUser: boolean
      count: number
      cidrs: string[]
    }
    assert.deepEqual([printed.scopes, printed.hasUser, printed.cidrs.length], [scopes, false, 2])
    assert.ok(printed.count >= 2)
  })
})
