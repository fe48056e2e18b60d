// A proof of a prefix without a letter over HTTP, from the instructions to the enabled announcement, with a real name server, an
// RDAP service and the running validator. How each proof handles invalid responses is tested beside it.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { AuthorizationProof, Validation } from '@pharos/contract/byoip/announcement-checks'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { sql } from 'kysely'
import { startNameServer } from '../../lab/src/name-server.ts'
import { skipWithout } from '../../lab/src/program.ts'
import { startRdapServer, type RdapServer, type Registration } from '../../lab/src/rdap-server.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { readLetterVerdicts } from '../src/byoip/letter/letter.store.ts'
import { suspendByValidation } from '../src/byoip/announcement/suspend-announcement.ts'
import { createValidator } from '../src/byoip/validation/validator.ts'
import type { Component } from '../src/runtime/component.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { emptyTables } from '../src/db/testing.ts'
import { authorizationDeps } from '../src/byoip/parts.ts'
import { createRegistryViews } from '../src/registry/parts.ts'

const prefix = '203.0.113.0/24'
const skip = skipWithout('nsd')

let folder: string
let nameServer: Awaited<ReturnType<typeof startNameServer>>
let rdap: RdapServer
let api: TestApi
const bearers = new Map<TestTeam, string>()
let red: TestTeam
let blue: TestTeam
let stop: () => Promise<void> = async () => {}

before(async () => {
  if (skip) return
  folder = await mkdtemp(join(tmpdir(), 'pharos-prefix-proof-'))
  nameServer = await startNameServer()
  rdap = await startRdapServer()
  const asns = [64_496, 64_497]
  const roas = asns.map((asn) => ({ prefix, maxLength: 24, asn: `AS${asn}`, ta: 'test' }))
  const routes = asns.map((asn) => `route: ${prefix}\norigin: AS${asn}\nsource: TEST\n`)
  await writeFile(join(folder, 'vrps.json'), JSON.stringify({ roas }))
  await writeFile(join(folder, 'irr.rpsl'), routes.join('\n'))
  const file = (name: string) => pathToFileURL(join(folder, name)).href
  api = await createTestApi({
    PHAROS_RPKI_SOURCES: file('vrps.json'),
    PHAROS_IRR_SOURCES: file('irr.rpsl'),
    PHAROS_DNS_RESOLVERS: nameServer.server,
    PHAROS_AUTHORIZATION_PROOFS: 'letter,dns_txt,rdap',
    PHAROS_RDAP_BOOTSTRAP: rdap.bootstrap,
  })
  const { owner } = api.database.postgres
  await sql`insert into locations (key, name, country, timezone) values ('here', 'Here', 'NL', 'UTC')`.execute(
    owner,
  )
  await sql`insert into regions (slug, name, location_key, speakers)
    values ('ams', 'Amsterdam', 'here', '[{"name":"ams","kind":"sandbox"}]')`.execute(owner)
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  for (const team of [red, blue]) {
    const { email } = await addUser(api, 'admin', [team], { admin: true })
    bearers.set(team, `Bearer ${(await api.signIn(email)).access}`)
  }
  await sql`insert into asns (team_id, asn, verified)
    values (${red.teamId}, 64496, now()), (${blue.teamId}, 64497, now())`.execute(owner)
})
beforeEach(async () => {
  if (skip) return
  await emptyTables(api.database.postgres.owner, ['announcements'], { restart: true })
  await nameServer.setRecords([])
  rdap.setRegistrations([
    { prefix: '203.0.112.0/22', handle: 'NET-PARENT', remarks: [] },
    { prefix, handle: 'NET-OWN', remarks: [] },
  ])
  rdap.asked.length = 0
})
afterEach(() => stop())
after(async () => {
  if (skip) return
  await api[Symbol.asyncDispose]()
  await rdap[Symbol.asyncDispose]()
  await nameServer[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** Creates the validator of a process with the settings of the API, or others. */
async function start(settings: Partial<TestApi['config']> = {}): Promise<void> {
  const [log, metrics] = [createLog(api.config), createMetrics()]
  const config = { ...api.config, ...settings }
  const views = createRegistryViews(config, log, metrics)
  const validator: Component = createValidator({
    ...views,
    postgres: api.database.postgres,
    waker: api.waker,
    readLetters: readLetterVerdicts,
    authorization: authorizationDeps(config),
    irrIntervalSeconds: 3600,
    policy: { onLoss: 'warn', graceHours: 72 },
    suspend: suspendByValidation,
    now: () => new Date(),
    log,
    metrics,
  })
  await views.rpki.start?.()
  await views.irr.start?.()
  await validator.start?.()
  stop = async () => {
    await validator.stop?.()
    await views.irr.stop?.()
    await views.rpki.stop?.()
    stop = async () => {}
  }
}

async function call(team: TestTeam, method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object) {
  const headers = { authorization: bearers.get(team)! }
  const response = await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) })
  return { status: response.statusCode, body: response.json() }
}

const path = '/v3/ipam/announcements'

async function create(team: TestTeam): Promise<number> {
  const origin_asn = team === red ? 64_496 : 64_497
  const { status, body } = await call(team, 'POST', path, { cidr: prefix, origin_asn })
  assert.equal(status, 201, JSON.stringify(body))
  return body.results[0].id
}

type Read = Announcement & { readonly loa: Validation }

async function read(team: TestTeam, id: number): Promise<Read> {
  const { body } = await call(team, 'GET', `${path}/${id}?include=validations,state_messages`)
  return { ...body, loa: body.validations.find(({ name }: Validation) => name === 'loa') }
}

/** Requests the checks again until the check has the state. */
async function until(team: TestTeam, id: number, is: (loa: Validation) => boolean): Promise<Read> {
  await call(team, 'POST', `${path}/${id}/validate`)
  return waitFor('the check of the authorization', async () => {
    const record = await read(team, id)
    return is(record.loa) && record
  })
}

const proofOf = ({ proofs = [] }: Validation, kind: string): AuthorizationProof =>
  proofs.find((proof) => proof.kind === kind)!

const wasLookedFor = ({ note }: AuthorizationProof): boolean => !/not been checked yet/.test(note)

/** Returns the record that the instructions name, literally. */
async function recordOf(team: TestTeam, id: number): Promise<{ name: string; text: string }> {
  const { loa } = await read(team, id)
  const [, name, text] = /^(\S+)\. 3600 IN TXT "(.+)"$/.exec(proofOf(loa, 'dns_txt').fix!)!
  return { name: name!, text: text! }
}

describe('a prefix without a letter', { skip }, () => {
  it('is authorized by the record of the instructions, and can then be enabled', async () => {
    await start()
    const id = await create(red)
    const first = await until(red, id, (loa) => wasLookedFor(proofOf(loa, 'dns_txt')))
    assert.deepEqual(
      first.loa.proofs!.map(({ kind, state }) => [kind, state]),
      [
        ['letter', 'missing'],
        ['dns_txt', 'missing'],
        ['rdap', 'missing'],
      ],
    )
    assert.equal((await call(red, 'PATCH', `${path}/${id}`, { enabled: true })).status, 409)
    const record = await recordOf(red, id)
    assert.equal(record.name, '_pharos.113.0.203.in-addr.arpa')
    await nameServer.setRecords([record])
    const { loa, loa_validated } = await until(red, id, ({ state }) => state === 'valid')
    assert.deepEqual([loa.evidence['by'], loa.evidence['token_at']], ['dns_txt', [record.name]])
    assert.ok(loa_validated)
    await waitFor('every check has passed', async () => (await read(red, id)).status === 'ready')
    assert.equal((await call(red, 'PATCH', `${path}/${id}`, { enabled: true })).status, 200)
  })

  it('is authorized by the token in its own registration, not in that of a contact or of a part', async () => {
    await start()
    const id = await create(red)
    const line = proofOf((await read(red, id)).loa, 'rdap').fix!.replace('remarks: ', '')
    const part = { prefix: '203.0.113.128/25', handle: 'NET-PART', remarks: [] }
    /** Waits until the registration of the handle is reported to lack the token. A check may have begun before the change. */
    const refused = async (handle: string, ...registrations: Registration[]): Promise<void> => {
      rdap.setRegistrations(registrations)
      await until(
        red,
        id,
        (now) =>
          proofOf(now, 'rdap').state === 'missing' &&
          proofOf(now, 'rdap').note.includes(` of the registration ${handle},`),
      )
    }
    const own = { prefix, handle: 'NET-OWN', remarks: [] }
    await refused('NET-OWN', { ...own, contactRemarks: [line] })
    await refused('NET-PART', { ...own, remarks: [line] }, part)
    const parent = { prefix: '203.0.112.0/22', handle: 'NET-PARENT', remarks: [line] }
    await refused('NET-OWN', parent, own)
    rdap.setRegistrations([{ prefix, handle: 'NET-OWN', remarks: ['Sold by X.', line] }])
    const { loa } = await until(red, id, ({ state }) => state === 'valid')
    assert.equal(loa.evidence['by'], 'rdap')
  })

  it('is not authorized for another team by the same record', async () => {
    await start()
    const [ours, theirs] = [await create(red), await create(blue)]
    const record = await recordOf(red, ours)
    await nameServer.setRecords([record])
    rdap.setRegistrations([{ prefix, handle: 'NET-OWN', remarks: [record.text] }])
    await until(red, ours, ({ state }) => state === 'valid')
    const { loa } = await until(blue, theirs, (now) => proofOf(now, 'dns_txt').note.startsWith('Other text'))
    assert.deepEqual([loa.state, proofOf(loa, 'rdap').state], ['missing', 'missing'])
    assert.notEqual((await recordOf(blue, theirs)).text, record.text)
    assert.equal((await call(blue, 'PATCH', `${path}/${theirs}`, { enabled: true })).status, 409)
  })

  it('stays authorized during an outage, with the age of the proof, and is no longer authorized when the record is deleted', async () => {
    await start()
    const id = await create(red)
    await nameServer.setRecords([await recordOf(red, id)])
    const { loa: valid } = await until(red, id, ({ state }) => state === 'valid')
    await waitFor('every check has passed', async () => (await read(red, id)).status === 'ready')
    await call(red, 'PATCH', `${path}/${id}`, { enabled: true })
    await nameServer.stop()
    const stopped = new Date().toISOString()
    const { loa: silent } = await until(red, id, (now) => /last answer/.test(proofOf(now, 'dns_txt').note))
    await nameServer.start()
    assert.equal(silent.state, 'valid')
    // Another check may have had its answer before the name server stopped.
    assert.ok(silent.checked! >= valid.checked! && silent.checked! <= stopped, silent.checked!)
    await nameServer.setRecords([])
    const gone = await until(red, id, ({ state }) => state !== 'valid')
    assert.deepEqual([gone.loa.state, gone.loa.evidence['lost']], ['expired', 'dns_txt'])
    assert.equal(gone.enabled, true, 'nothing is withdrawn')
    assert.ok(gone.state_messages!.some(({ tag }) => tag === 'validation_lost'))
  })

  it('is checked only if the operator accepts that proof', async () => {
    const id = await create(red)
    const tokens = proofOf((await read(red, id)).loa, 'dns_txt')
    await nameServer.setRecords([await recordOf(red, id)])
    await start({ authorizationProofs: ['letter'] })
    const { loa } = await until(red, id, ({ proofs }) => proofs!.length === 1)
    assert.ok(tokens)
    assert.deepEqual([loa.state, rdap.asked], ['missing', []])
    assert.match(loa.fix!, /^POST \/v3\/ipam\/announcements\/\d+\/loa with a signed letter/)
  })

  it('is checked when it is due, without a request', async () => {
    const id = await create(red)
    await nameServer.setRecords([await recordOf(red, id)])
    await start()
    await waitFor('the record was found', async () => (await read(red, id)).loa.state === 'valid')
    const { rows } = await sql<{ next_seconds: number }>`
      select extract(epoch from next_check - now())::float8 as next_seconds from announcement_proofs
      where announcement_id = ${id} and kind = 'dns_txt'`.execute(api.database.postgres.owner)
    assert.ok(rows[0]!.next_seconds > 3_000, 'valid: again at the interval')
  })
})
