// Clients that others generate from the published document: @hey-api/openapi-ts and openapi-typescript. They are generated here,
// compiled strictly together with the programs in test/clients, and used against a server that listens.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypes, { astToString } from 'openapi-typescript'
import { createTestApi, type TestApi } from './api.ts'
import { addApiToken } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { documentText } from './support/openapi-operations.ts'

const clients = new URL('./clients/', import.meta.url)
const generated = new URL('./generated/', clients)
const document = new URL('openapi.json', generated)

type Options = { readonly baseUrl: string; readonly token: string; readonly fetch: typeof fetch }
type Announcement = { readonly id: number; readonly enabled: boolean; readonly regions: readonly string[] }

/** The program of clients/hey-api.ts. Its own types exist only after its client was generated. */
type Provider = {
  configure(): Promise<string[]>
  create(body: object): Promise<{ created: Announcement; location: string | null }>
  createHook(body: object): Promise<{ id: number; attempts: number }>
  partsOf(id: number): Promise<boolean[]>
  read(id: number): Promise<{ announcement: Announcement; etag: string } | undefined>
  update(id: number, body: object, etag: string): Promise<Announcement>
  plan(id: number, body: object): Promise<Plan>
  delete(id: number): Promise<void>
  list(filter: object, limit: number): Promise<Announcement[]>
}
type Plan = { dry_run: boolean; changes: { field: string }[]; result: Announcement }

/** The program of clients/openapi-fetch.ts. */
type AnnouncementClient = {
  read(id: number): Promise<Announcement | undefined>
  create(body: object): Promise<Announcement | undefined>
  partsOf(id: number): Promise<boolean[]>
  enable(id: number, region: string): Promise<Announcement | undefined>
  codeOfUnknownRegion(id: number): Promise<string | undefined>
}

let api: TestApi
let fixtures: Fixtures
let provider: Provider
let options: Options
let answersToLose = 0

/** Loses answers after the server has processed the request. */
const unreliableFetch: typeof fetch = async (...request) => {
  const response = await fetch(...request)
  if (answersToLose === 0) return response
  answersToLose -= 1
  await response.arrayBuffer()
  throw new TypeError('fetch failed')
}

before(async () => {
  rmSync(generated, { recursive: true, force: true })
  mkdirSync(generated)
  writeFileSync(document, documentText)
  await createClient({
    input: fileURLToPath(document),
    output: {
      path: fileURLToPath(new URL('hey-api', generated)),
      module: { extension: '.ts' },
    },
    logs: { level: 'silent' },
  })
  writeFileSync(new URL('openapi-typescript.d.ts', generated), astToString(await openapiTypes(document)))

  api = await createTestApi()
  fixtures = await createFixtures(api)
  const scopes = ['ipam:read', 'ipam:write', 'webhooks:read', 'webhooks:write']
  const token = await addApiToken(api, fixtures.red.teamId, { scopes, isAdmin: true })
  const baseUrl = await api.server.listen({ port: 0, host: '127.0.0.1' })
  options = { baseUrl, token, fetch: unreliableFetch }
  const { createProvider } = await load<{ createProvider(options: Options): Provider }>('hey-api.ts')
  provider = createProvider(options)
})
after(async () => {
  await api?.[Symbol.asyncDispose]()
  rmSync(generated, { recursive: true, force: true })
})

/** Loads a program after its client was generated; the compiler of the project does not read it. */
const load = async <T>(name: string): Promise<T> => (await import(new URL(name, clients).href)) as T

/** Expects an error answer with the code. */
const code = (expected: string) => (error: unknown) =>
  (error as { problem: { code: string } }).problem.code === expected

describe('generated clients', () => {
  it('compile strictly, with the programs that use them', () => {
    const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
    const project = fileURLToPath(new URL('tsconfig.json', clients))
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })
})

describe('a program with the client of @hey-api/openapi-ts', () => {
  it('sends the API token as the security scheme of each operation says', async () => {
    assert.ok((await provider.configure()).includes('ipam:write'))
  })

  it('creates, reads and deletes, and finds nothing afterwards', async () => {
    const { created, location } = await provider.create({
      cidr: '198.51.100.0/24',
      origin_asn: fixtures.red.asn,
    })
    assert.equal(location, `/v3/ipam/announcements/${created.id}`)
    const { announcement } = (await provider.read(created.id))!
    assert.deepEqual(announcement, created)
    assert.deepEqual(await provider.list({ cidr: ['198.51.100.0/24'] }, 100), [created])
    await provider.delete(created.id)
    assert.equal(await provider.read(created.id), undefined)
    await provider.delete(created.id)
  })

  it('updates with the ETag that it read, and learns that the record has changed', async () => {
    const id = fixtures.red.announcements.off
    const { etag } = (await provider.read(id))!
    const { enabled, regions } = await provider.update(id, { enabled: true, region: 'ams' }, etag)
    assert.ok(enabled && regions.includes('ams'))
    await assert.rejects(provider.update(id, { enabled: false }, etag), code('precondition_failed'))
  })

  it('reads the extra parts that it names', async () => {
    assert.deepEqual(await provider.partsOf(fixtures.red.announcements.on), [true, true])
  })

  it('plans a change without storing it', async () => {
    const id = fixtures.red.announcements.on
    const plan = await provider.plan(id, { enabled: false })
    assert.deepEqual([plan.dry_run, plan.result.enabled], [true, false])
    assert.ok(plan.changes.some(({ field }) => field === 'enabled'))
    assert.equal((await provider.read(id))!.announcement.enabled, true)
  })

  it('reads all pages', async () => {
    const all = await provider.list({}, 1000)
    assert.ok(all.length > 2)
    assert.deepEqual(await provider.list({}, 1), all)
  })

  it('decides by the code of an error', async () => {
    const { unvalidated } = fixtures.red.announcements
    const { etag } = (await provider.read(unvalidated))!
    await assert.rejects(provider.update(unvalidated, { enabled: true }, etag), code('not_validated'))
  })

  it('creates once, although the first two answers are lost', async () => {
    answersToLose = 2
    const hook = { url: 'https://hooks.example.com/pharos', events: ['event.started' as const] }
    const { id, attempts } = await provider.createHook(hook)
    assert.equal(attempts, 3)
    const stored = await api.database.postgres.owner.selectFrom('webhooks').select('id').execute()
    assert.deepEqual(stored, [{ id }])
  })
})

describe('a program with the types of openapi-typescript', () => {
  it('reads and changes, and gets the code of an error', async () => {
    type Program = { createAnnouncementClient(options: Options): AnnouncementClient }
    const client = (await load<Program>('openapi-fetch.ts')).createAnnouncementClient(options)
    const id = fixtures.red.announcements.off
    assert.equal((await client.read(id))?.id, id)
    assert.ok((await client.enable(id, 'fra'))?.regions.includes('fra'))
    assert.equal(await client.codeOfUnknownRegion(id), 'invalid')
    assert.equal(await client.read(999_999), undefined)
    assert.deepEqual(await client.partsOf(id), [true, true])
    const created = await client.create({ cidr: '198.51.100.0/24', origin_asn: fixtures.red.asn })
    assert.ok(created!.id > 0)
  })
})
