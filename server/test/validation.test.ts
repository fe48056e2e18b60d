// The running validator: real registry files that change, a real database, and the responses to a team. How each driver handles an
// invalid registry is tested beside it; this file tests the consequences of a check's state.
import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import type { LetterVerdict } from '../src/byoip/validation/check-rules.ts'
import { explain } from '../src/byoip/validation/validation.ts'
import { suspendByValidation } from '../src/byoip/announcement/suspend-announcement.ts'
import { validateAll, validateDue, type ValidateDeps } from '../src/byoip/validation/validate.ts'
import { readAnnounced } from '../src/byoip/validation/validation.store.ts'
import { createValidator } from '../src/byoip/validation/validator.ts'
import type { Asn } from '../src/net/asn.ts'
import type { Prefix } from '../src/net/prefix.ts'
import type { IrrVerdict } from '../src/registry/irr-verdict.ts'
import type { Irr } from '../src/registry/irr.ts'
import { createRpki } from '../src/registry/rpki.ts'
import type { Policy } from '../src/byoip/validation/validation-policy.ts'
import type { Component } from '../src/runtime/component.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics, type Metrics } from '../src/runtime/metrics.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { emptyTables } from '../src/db/testing.ts'
import { authorizationDeps } from '../src/byoip/parts.ts'
import { createRegistryViews } from '../src/registry/parts.ts'

let folder: string
let api: TestApi
let red: TestTeam
let blue: TestTeam
let validator: Component | undefined
let views: ReturnType<typeof createRegistryViews> | undefined
const access: Record<string, string> = {}
/** Accepted by staff, for tests that are not about letters. */
const accepted = new Map<number, LetterVerdict>()

type Roa = { prefix: string; maxLength?: number; ta?: string; asn: number }
type RouteObject = { prefix: string; asn: number }

/** Other objects in every registry: a registry without any object counts as a registry that has lost its data. */
const others: Roa[] = [{ prefix: '192.88.99.0/24', asn: 64511 }]

/** Writes the file like registries do: complete, under a temporary name first. */
async function put(name: string, text: string): Promise<void> {
  const path = join(folder, name)
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

const setRoas = (...roas: Roa[]) => putRoas('vrps.json', roas)

const putRoas = (name: string, roas: readonly Roa[]) =>
  put(
    name,
    JSON.stringify({
      roas: [...others, ...roas].map(
        ({ prefix, asn, maxLength = Number(prefix.split('/')[1]), ta = 'test' }) => ({
          prefix,
          maxLength,
          asn: `AS${asn}`,
          ta,
        }),
      ),
    }),
  )

const setRoutes = (...objects: RouteObject[]) =>
  put(
    'routes.rpsl',
    `${[...others, ...objects]
      .map(
        ({ prefix, asn }) =>
          `${prefix.includes(':') ? 'route6' : 'route'}: ${prefix}\norigin: AS${asn}\nsource: TEST\n`,
      )
      .join('\n')}\n`,
  )

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pharos-validation-'))
  await setRoas()
  await setRoutes()
  const file = (name: string) => pathToFileURL(join(folder, name)).href
  api = await createTestApi({
    PHAROS_RPKI_SOURCES: file('vrps.json'),
    PHAROS_IRR_SOURCES: file('routes.rpsl'),
  })
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  for (const [name, team] of [
    ['red', red],
    ['blue', blue],
  ] as const) {
    const { email } = await addUser(api, 'admin', [team], { admin: true })
    access[name] = (await api.signIn(email)).access
  }
  const provider = await addUser(api, 'provider', [red], { staff: true })
  access['staff'] = (await api.signIn(provider.email)).access
  const { owner } = api.database.postgres
  await sql`insert into locations (key, name, country, timezone) values ('here', 'Here', 'NL', 'UTC')`.execute(
    owner,
  )
  await sql`insert into regions (slug, name, location_key, speakers)
    values ('ams', 'Amsterdam', 'here', '[{"name":"ams","kind":"sandbox"}]')`.execute(owner)
  await sql`insert into asns (team_id, asn, verified)
    values (${red.teamId}, 64496, now()), (${blue.teamId}, 64497, now())`.execute(owner)
})

after(async () => {
  await stop()
  await api[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  await stop()
  accepted.clear()
  await emptyTables(api.database.postgres.owner, ['announcements'], { restart: true })
  await setRoas()
  await setRoutes()
})

async function stop(): Promise<void> {
  await validator?.stop?.()
  await views?.irr.stop?.()
  await views?.rpki.stop?.()
  validator = views = undefined
}

async function start(
  policy: Policy = { onLoss: 'warn', graceHours: 72 },
  config = api.config,
): Promise<Metrics> {
  const log = createLog(api.config)
  const metrics = createMetrics()
  views = createRegistryViews(config, log, metrics)
  await views.rpki.start?.()
  await views.irr.start?.()
  validator = createValidator({
    ...views,
    postgres: api.database.postgres,
    waker: api.waker,
    readLetters: async () => accepted,
    authorization: authorizationDeps(api.config),
    irrIntervalSeconds: 3600,
    policy,
    suspend: suspendByValidation,
    now: () => new Date(),
    log,
    metrics: createMetrics(),
  })
  await validator.start?.()
  return metrics
}

async function call(who: string, method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${access[who]}` }
  const response = await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) })
  return { status: response.statusCode, body: response.json() }
}

const path = '/v3/ipam/announcements'

async function create(who: string, cidr: string, asn = who === 'red' ? 64496 : 64497): Promise<number> {
  const { status, body } = await call(who, 'POST', path, { cidr, origin_asn: asn })
  assert.equal(status, 201, JSON.stringify(body))
  return body.results[0].id
}

const accept = (id: number) =>
  accepted.set(id, {
    state: 'valid',
    ...explain('letter_accepted'),
    validUntil: null,
    letterId: null,
  })

const announced = async () =>
  (await readAnnounced(api.database.postgres.owner)).map(({ prefix }) => String(prefix))
const read = async (who: string, id: number) =>
  (await call(who, 'GET', `${path}/${id}?include=validations,state_messages,details`)).body

/** Returns the states of the checks by name, once they are as expected. */
async function until(who: string, id: number, expected: Record<string, string>, timeoutMs = 60_000) {
  const end = performance.now() + timeoutMs
  for (;;) {
    const record = await read(who, id)
    const states = Object.fromEntries(
      record.validations.map(({ name, state }: { name: string; state: string }) => [name, state]),
    )
    if (Object.entries(expected).every(([name, state]) => states[name] === state)) return record
    if (performance.now() > end) assert.deepEqual(states, { ...states, ...expected })
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const checkedOrigin = async (id: number): Promise<number | null> =>
  (
    await sql<{ origin: number | null }>`
      select checked_origin as origin from announcements where id = ${id}`.execute(
      api.database.postgres.owner,
    )
  ).rows[0]!.origin

const check = (record: { validations: { name: string }[] }, name: string) =>
  record.validations.find((one) => one.name === name) as unknown as Record<string, unknown>

describe('a new announcement', () => {
  it('gets a fix for each missing object, and each check turns valid without a request when the registry has the object', async () => {
    await start()
    const id = await create('red', '203.0.113.0/24')
    const first = await until('red', id, { irr: 'missing', rpki: 'missing', loa: 'missing', asn: 'valid' })
    assert.equal(first.status, 'validation_failed')
    assert.equal(check(first, 'rpki').fix, 'prefix:    203.0.113.0/24\nmaxLength: 24\norigin:    AS64496')
    assert.match(String(check(first, 'irr').fix), /^route: +203\.0\.113\.0\/24\norigin: +AS64496\n/)

    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    const second = await until('red', id, { rpki: 'valid' })
    assert.ok(second.rpki_validated)
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    const third = await until('red', id, { irr: 'valid' })
    assert.equal(third.status, 'pending_validation', 'only the letter is missing, which the team must upload')

    accept(id)
    await call('red', 'POST', `${path}/${id}/validate`)
    const last = await until('red', id, { loa: 'valid' })
    assert.equal(last.status, 'ready')
    assert.ok(last.details.claimed)
    const history = await call('red', 'GET', `${path}/${id}/history?kind=validation&ordering=id`)
    const turns = new Set(
      history.body.results.map(
        ({ detail }: { detail: { name: string; after: string } }) => `${detail.name} ${detail.after}`,
      ),
    )
    for (const turn of ['rpki valid', 'irr valid', 'loa valid']) assert.ok(turns.has(turn), turn)
    assert.equal((await call('red', 'PATCH', `${path}/${id}`, { enabled: true })).status, 200)
    assert.equal(await checkedOrigin(id), 64496)
  })

  it('is announced with a changed origin only when all checks have passed for it', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    await start()
    const id = await passed('red', '203.0.113.0/24')
    const { owner } = api.database.postgres
    await sql`update asns set asn = 64511 where asn = 64496`.execute(owner)
    await sql`update announcements set origin_asn = 64511 where id = ${id}`.execute(owner)
    await setRoas({ prefix: '203.0.113.0/24', asn: 64511 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64511 })
    assert.equal(await checkedOrigin(id), 64496)
    // The registries are read again when their files have changed; requests do not wait for that.
    await waitFor(async () => {
      await call('red', 'POST', `${path}/${id}/validate`)
      return (await checkedOrigin(id)) === 64511
    })
    await sql`update asns set asn = 64496 where asn = 64511`.execute(owner)
  })

  it('reports a different origin and a length that the ROA does not allow', async () => {
    await setRoas({ prefix: '203.0.112.0/23', asn: 64496 }, { prefix: '198.51.100.0/24', asn: 64511 })
    await setRoutes({ prefix: '203.0.112.0/23', asn: 64496 }, { prefix: '198.51.100.0/24', asn: 64511 })
    await start()
    const longer = await create('red', '203.0.113.0/24')
    const others = await create('red', '198.51.100.0/24')
    const record = await until('red', longer, { rpki: 'mismatch_length', irr: 'mismatch_length' })
    assert.deepEqual((check(record, 'rpki').evidence as { vrps: unknown[] }).vrps, [
      { prefix: '203.0.112.0/23', max_length: 23, asn: 64496 },
    ])
    await until('red', others, { rpki: 'mismatch_asn', irr: 'mismatch_asn' })
  })

  it('has a preflight with current results, which stores nothing', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    const end = performance.now() + 300_000
    for (let states: unknown; ;) {
      const dry = await call('red', 'POST', `${path}?dry_run=true`, {
        cidr: '203.0.113.0/24',
        origin_asn: 64496,
      })
      states = dry.body.result.results[0].validations.map((one: { name: string; state: string }) => one.state)
      if (JSON.stringify(states) === '["valid","valid","missing","valid","valid","valid"]') break
      assert.ok(performance.now() < end, JSON.stringify(states))
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    assert.equal((await call('red', 'GET', path)).body.count, 0)
  })
})

describe('the results of registries that a team sees', () => {
  const places = /file:|rtr:|whois:|127\.0\.0\.1|pharos-validation-/

  it('name their kind, and not their addresses', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    await start()
    const id = await create('red', '203.0.113.0/24')
    const record = await until('red', id, { rpki: 'valid', irr: 'valid' })
    const sources = ['rpki', 'irr'].map((name) => (check(record, name).evidence as { source: string }).source)
    assert.deepEqual(sources, ['VRP export', 'IRR dump'])
    assert.doesNotMatch(JSON.stringify(record), places)
  })

  it('report that they do not respond, and not their addresses', async () => {
    // Port 1 of this host, without a listener.
    await using other = await createTestApi({
      PHAROS_RPKI_SOURCES: 'rtr://127.0.0.1:1',
      PHAROS_IRR_SOURCES: 'whois://127.0.0.1:1?sources=LAB',
    })
    const team = await addTeam(other, 'red')
    const { email } = await addUser(other, 'admin', [team], { admin: true })
    await sql`insert into asns (team_id, asn, verified) values (${team.teamId}, 64496, now())`.execute(
      other.database.postgres.owner,
    )
    const response = await other.server.inject({
      method: 'POST',
      url: `${path}?dry_run=true`,
      headers: { authorization: `Bearer ${(await other.signIn(email)).access}` },
      payload: { cidr: '203.0.113.0/24', origin_asn: 64496 },
    })
    assert.equal(response.statusCode, 200, response.body)
    const notes = response
      .json()
      .result.results[0].validations.filter(({ state }: { state: string }) => state === 'unavailable')
      .map(({ note }: { note: string }) => note)
    assert.deepEqual(notes, [
      'The routing registries could not be queried. IRR server (LAB) does not answer.',
      'The RPKI could not be queried. No RPKI source is current.',
    ])
    assert.doesNotMatch(response.body, places)
  })
})

/** Creates an announcement with every check passed. */
async function passed(who: string, cidr: string): Promise<number> {
  const id = await create(who, cidr)
  accept(id)
  await call(who, 'POST', `${path}/${id}/validate`)
  await until(who, id, { irr: 'valid', rpki: 'valid', loa: 'valid', overlap: 'valid' })
  return id
}

describe('an enabled announcement', () => {
  it('stays announced when its ROA becomes invalid, and its team is warned', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    await start()
    const id = await passed('red', '203.0.113.0/24')
    await call('red', 'PATCH', `${path}/${id}`, { enabled: true })
    await setRoas({ prefix: '203.0.113.0/24', asn: 64511 })
    const record = await until('red', id, { rpki: 'mismatch_asn' })
    assert.deepEqual([record.enabled, record.rpki_validated], [true, null])
    assert.equal(record.status, 'announcing', 'the observed state; nothing is withdrawn')
    const warning = record.state_messages.find(({ tag }: { tag: string }) => tag === 'validation_lost')
    assert.equal(warning.severity, 'warning')
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    assert.ok((await until('red', id, { rpki: 'valid' })).rpki_validated)
  })

  it('stays announced when staff revoke its ASN, whose check fails at once', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    await start()
    const id = await passed('red', '203.0.113.0/24')
    await call('red', 'PATCH', `${path}/${id}`, { enabled: true })
    const decide = (decision: string) =>
      call('staff', 'POST', `/v3/admin/asns/64496/${decision}`, { team_id: red.teamId, reason: 'a test' })
    assert.equal((await decide('revoke')).status, 200)
    const record = await until('red', id, { asn: 'missing' })
    assert.deepEqual([record.enabled, record.status, check(record, 'asn').fix], [true, 'announcing', null])
    assert.ok(record.state_messages.some(({ tag }: { tag: string }) => tag === 'validation_lost'))
    assert.equal((await decide('verify')).status, 200)
    await until('red', id, { asn: 'valid' })
  })

  it('is suspended after the grace period if the operator configures it, and resumes by itself', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    await start({ onLoss: 'suspend', graceHours: 1 })
    const id = await passed('red', '203.0.113.0/24')
    await call('red', 'PATCH', `${path}/${id}`, { enabled: true })
    await setRoas()
    await until('red', id, { rpki: 'missing' })
    assert.equal((await read('red', id)).details.suspended, false, 'the grace period has just begun')
    await sql`update announcement_validations set since = now() - interval '2 hours' where name = 'rpki'`.execute(
      api.database.postgres.owner,
    )
    await call('red', 'POST', `${path}/${id}/validate`)
    await waitFor(async () => (await read('red', id)).details.suspended_by === 'validation')
    assert.deepEqual(await announced(), ['203.0.113.0/24'], 'sources of ROAs are still compared about it')
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await waitFor(async () => !(await read('red', id)).details.suspended)
    assert.equal((await read('red', id)).enabled, true)
  })

  it('stays suspended by staff while all checks pass, even if the reason is the text of the policy', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    await start({ onLoss: 'suspend', graceHours: 1 })
    const id = await passed('red', '203.0.113.0/24')
    await call('staff', 'POST', `/v3/admin/announcements/${id}/suspend`, { reason: 'validation' })
    await setRoas()
    await until('red', id, { rpki: 'missing' })
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await until('red', id, { rpki: 'valid' })
    const { details } = await read('red', id)
    assert.deepEqual(
      [details.suspended, details.suspended_by, details.suspended_reason],
      [true, 'staff', 'validation'],
    )
    assert.deepEqual(await announced(), [])
  })

  it('keeps its results while the registries do not respond', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    await start()
    const id = await passed('red', '203.0.113.0/24')
    await stop()
    await put('vrps.json', 'no JSON')
    await put('routes.rpsl', '\u0000')
    await start()
    await call('red', 'POST', `${path}/${id}/validate`)
    await waitFor(async () => /last answer/.test(String(check(await read('red', id), 'rpki').note)))
    const record = await read('red', id)
    assert.ok(record.rpki_validated && record.irr_validated)
    assert.equal(record.status, 'ready')
  })

  it('keeps its results while a registry takes validity from many announcements, however few ROAs that are', async () => {
    const { owner } = api.database.postgres
    const ours = [0, 1, 2, 3].map((at) => `198.51.${100 + at}.0/24`)
    const many = Array.from({ length: 100 }, (_, at) => ({ prefix: `10.0.${at}.0/24`, asn: 1, ta: 'large' }))
    const roas = ours.map((prefix) => ({ prefix, asn: 64496, ta: 'small' }))
    // A separate file: the API would withhold the smaller files of other tests.
    const put = (...own: Roa[]) => putRoas('many.json', [...own, ...many])
    await put(...roas)
    await sql`
      insert into announcements (team_id, prefix, origin_asn, enabled, claimed, irr_validated, rpki_validated, loa_validated, status,
        vouched, clearance, checked_origin)
      select ${red.teamId}, prefix, 64496, true, now(), now(), now(), now(), 'announced', '{irr,loa}', 'passed', 64496
      from unnest(${ours}::cidr[]) as n (prefix)`.execute(owner)
    await start(undefined, {
      ...api.config,
      rpkiSources: api.config.rpkiSources.map((source) => source.replace('vrps.json', 'many.json')),
    })
    const { rows } = await sql<{ id: number }>`select id from announcements order by id`.execute(owner)
    for (const { id } of rows) await until('red', id, { rpki: 'valid' })
    await put()
    const status = () => views!.rpki.status().sources[0]!
    await waitFor(async () => status().suspicious)
    assert.match(
      status().problem ?? '',
      /no VRPs of the trust anchor small; it takes validity from 4 of 4 announcements, such as 198\.51\.100\.0\/24 of AS64496/,
    )
    await put(...roas.slice(0, 2))
    await waitFor(async () => !status().suspicious)
  })

  it('keeps its results while the registries are empty, which raises an alarm', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    await setRoutes({ prefix: '203.0.113.0/24', asn: 64496 })
    const metrics = await start({ onLoss: 'suspend', graceHours: 0 })
    const id = await passed('red', '203.0.113.0/24')
    await put('vrps.json', '{"roas":[]}')
    await put('routes.rpsl', '% nothing\n')
    await waitFor(async () => {
      const text = await metrics.registry.metrics()
      return ['rpki', 'irr'].every((kind) =>
        new RegExp(`^pharos_registry_suspicious\\{kind="${kind}",source="file:.*"\\} 1$`, 'm').test(text),
      )
    })
    await call('red', 'POST', `${path}/${id}/validate`)
    await waitFor(async () => {
      const { rows } = await sql<{ done: boolean }>`
        select check_requested is null as done from announcements where id = ${id}`.execute(
        api.database.postgres.owner,
      )
      return rows[0]!.done
    })
    const record = await until('red', id, { rpki: 'valid', irr: 'valid' })
    assert.deepEqual([record.status, record.details.suspended], ['ready', false])
  })
})

/** Creates two teams, each with its own ASN; the registries allow both to originate the prefix. */
const bothAsns = [64496, 64497].map((asn) => ({ prefix: '203.0.113.0/24', asn }))

describe('two teams that name the same prefix', () => {
  it('the first to prove it has it, and the check of the other fails', async () => {
    await setRoas(...bothAsns)
    await setRoutes(...bothAsns)
    const theirs = await create('blue', '203.0.113.0/24')
    await start()
    const ours = await passed('red', '203.0.113.0/24')
    accept(theirs)
    await call('blue', 'POST', `${path}/${theirs}/validate`)
    const record = await until('blue', theirs, {
      overlap: 'invalid',
      irr: 'valid',
      rpki: 'valid',
      loa: 'valid',
    })
    assert.equal(record.status, 'validation_failed')
    const refused = await call('blue', 'PATCH', `${path}/${theirs}`, { enabled: true })
    assert.equal(refused.status, 409)
    assert.equal((await call('red', 'PATCH', `${path}/${ours}`, { enabled: true })).status, 200)
  })

  it('the other one learns that the prefix is held only once its own proof holds', async () => {
    await setRoas(bothAsns[0]!)
    await setRoutes(bothAsns[0]!)
    const early = await create('blue', '203.0.113.0/24')
    await start()
    await passed('red', '203.0.113.0/24')
    await call('blue', 'POST', `${path}/${early}/validate`)
    const before = await until('blue', early, { overlap: 'pending', rpki: 'mismatch_asn' })
    assert.doesNotMatch(JSON.stringify(before), /another customer/i)
    await sql`delete from announcements where id = ${early}`.execute(api.database.postgres.owner)
    const tryOut = () =>
      call('blue', 'POST', `${path}?dry_run=true`, { cidr: '203.0.113.0/24', origin_asn: 64497 })
    // The API reads the file of ROAs once per second.
    await waitFor(async () => (await tryOut()).status === 200)

    await setRoas(...bothAsns)
    await waitFor(async () => (await tryOut()).status === 409)
    const { body } = await tryOut()
    assert.equal(body.code, 'prefix_claimed')
    assert.doesNotMatch(JSON.stringify(body), /red\b/)
  })

  it('with concurrent proofs: one of them has it', async () => {
    await setRoas(...bothAsns)
    await setRoutes(...bothAsns)
    const ids = [await create('red', '203.0.113.0/24'), await create('blue', '203.0.113.0/24')]
    for (const id of ids) accept(id)
    await start()
    await until('red', ids[0]!, { overlap: 'valid', loa: 'valid', irr: 'valid', rpki: 'valid' })
    await until('blue', ids[1]!, { overlap: 'invalid' })
  })
})

describe('a run of the validator', () => {
  const prefixes = ['198.51.100.0/24', '203.0.113.0/24']
  const validAnswer = (prefix: Prefix, origin: Asn): IrrVerdict => ({
    state: 'valid',
    objects: [{ prefix, origin, source: 'TEST' }],
    source: 'test',
    fetched: new Date(),
    cached: false,
  })
  const depsWith = (
    judge: Irr['judge'],
    policy: Policy = { onLoss: 'warn', graceHours: 0 },
  ): ValidateDeps => ({
    db: api.database.postgres.owner,
    rpki: createRpki({ sources: [], log: createLog(api.config) }),
    irr: { judge },
    readLetters: async () => accepted,
    authorization: authorizationDeps(api.config),
    irrIntervalSeconds: 3600,
    policy,
    suspend: suspendByValidation,
    now: () => new Date(),
  })
  const stateOfIrr = async (id: number) =>
    (
      await sql<{ state: string }>`
        select state from announcement_validations where announcement_id = ${id} and name = 'irr'`.execute(
        api.database.postgres.owner,
      )
    ).rows[0]?.state

  it('saves the answers that it has when one query does not end', async () => {
    const ids = [await create('red', prefixes[0]!), await create('blue', prefixes[1]!)]
    const abort = new AbortController()
    const judge: Irr['judge'] = async (prefix, origin, { signal } = {}) => {
      if (prefix === prefixes[1]) return validAnswer(prefix, origin)
      setTimeout(() => abort.abort(new Error('the run is over')), 100)
      return new Promise((_, reject) =>
        signal!.addEventListener('abort', () => reject(signal!.reason as Error)),
      )
    }
    await sql`update announcement_validations set next_check = now() where name = 'irr'`.execute(
      api.database.postgres.owner,
    )
    await assert.rejects(validateDue(depsWith(judge), abort.signal), /the run is over/)
    assert.deepEqual([await stateOfIrr(ids[0]!), await stateOfIrr(ids[1]!)], ['missing', 'valid'])
  })

  it('saves no answer about an announcement that was changed during the queries, which stays due', async () => {
    const { owner } = api.database.postgres
    const id = await create('red', prefixes[0]!)
    await sql`update announcement_validations set next_check = now() where name = 'irr'`.execute(owner)
    const asked: unknown[] = []
    const judge: Irr['judge'] = async (prefix, origin, { asSet } = {}) => {
      asked.push(asSet)
      if (asked.length === 1) await call('red', 'PATCH', `${path}/${id}`, { as_set: 'AS-RED' })
      return validAnswer(prefix, origin)
    }
    const deps = depsWith(judge)
    await validateDue(deps)
    assert.notEqual(await stateOfIrr(id), 'valid')
    await validateDue(deps)
    assert.deepEqual([asked, await stateOfIrr(id)], [[undefined, 'AS-RED'], 'valid'])
  })

  it('does not resume what staff suspend during the queries', async () => {
    const { owner } = api.database.postgres
    const id = await create('red', prefixes[0]!)
    await sql`update announcements set vouched = '{irr,rpki,loa}', claimed = now(), clearance = 'passed', enabled = true,
      suspended = true, suspended_by = 'validation', check_requested = now() where id = ${id}`.execute(owner)
    const judge: Irr['judge'] = async (prefix, origin) => {
      await call('staff', 'POST', `/v3/admin/announcements/${id}/suspend`, { reason: 'abuse' })
      return validAnswer(prefix, origin)
    }
    await validateDue(depsWith(judge, { onLoss: 'suspend', graceHours: 1 }))
    const { details } = await read('red', id)
    assert.deepEqual([details.suspended, details.suspended_by], [true, 'staff'])
  })

  it('lets one team claim a prefix, and none a part of it in the same run', async () => {
    const { owner } = api.database.postgres
    const outer = await create('red', '2001:db8::/32')
    const inner = await create('blue', '2001:db8:1::/48')
    await sql`update announcements set vouched = '{irr,rpki,loa}', check_requested = now()`.execute(owner)
    const deps = depsWith(async (prefix, origin) => validAnswer(prefix, origin))
    for (let run = 0; run < 2; run++) await validateAll(deps)
    for (let run = 0; run < 2; run++) await validateDue(deps)
    const claimed = await sql<{ id: number }>`
      select id from announcements where claimed is not null`.execute(owner)
    assert.deepEqual(claimed.rows, [{ id: outer }])
    await until('blue', inner, { overlap: 'invalid' }, 0)
  })
})

describe('the metrics', () => {
  it('report the registries that can be queried', async () => {
    await setRoas({ prefix: '203.0.113.0/24', asn: 64496 })
    const metrics = createMetrics()
    const seen = createRegistryViews(api.config, createLog(api.config), metrics)
    await seen.rpki.start?.()
    await waitFor(async () => seen.rpki.status().source !== null)
    const text = await metrics.registry.metrics()
    assert.match(text, /^pharos_rpki_vrps\{source="file:.*vrps\.json"\} 2$/m)
    assert.match(text, /^pharos_registry_up\{kind="rpki",source="file:.*"\} 1$/m)
    assert.match(text, /^pharos_registry_up\{kind="irr",source="file:.*routes\.rpsl"\} [01]$/m)
    await seen.rpki.stop?.()
  })
})

describe('a check declared as passed by the operator', () => {
  it('passes whatever the registries return, which are shown with it', async () => {
    const { owner } = api.database.postgres
    const { rows } = await sql<{ id: number }>`
      insert into announcements (team_id, prefix, origin_asn, irr_validated, rpki_validated, loa_validated,
        vouched, clearance, claimed, checked_origin)
      values (${red.teamId}, '192.0.2.0/24', 64500, now(), now(), now(), '{irr,rpki,loa}', 'passed', now(), 64500)
      returning id`.execute(owner)
    await start()
    const record = await until('red', rows[0]!.id, {
      irr: 'valid',
      rpki: 'valid',
      loa: 'valid',
      asn: 'valid',
    })
    assert.match(String(check(record, 'rpki').note), /vouches.*No ROA/)
    assert.equal(record.status, 'ready')
  })
})

async function waitFor(condition: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!(await condition())) {
    assert.ok(performance.now() < end, String(condition))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
