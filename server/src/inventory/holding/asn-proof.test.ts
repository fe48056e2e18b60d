import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import type { AsnProofMethod, AsnVerification } from '@pharos/contract/inventory/asn'
import { startNameServer } from '@pharos/lab/name-server'
import { skipWithout } from '@pharos/lab/program'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createTxtResolver } from '../../drivers/dns/txt-resolver.ts'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { Actor, Operation } from '../../operation/operation.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { findVerifiedAsn } from './asn.ts'
import { createRefreshLimits, verifyAsn, type VerifyAsnDeps } from './asn-proof.ts'
import type { AsnProofSources } from './asn-proof-result.ts'
import { recheckAsns } from './asn-recheck.ts'
import { asnTokens } from './asn-token.ts'

const dayMs = 86_400_000
const never = new AbortController().signal
const ring = createKeyRing([
  'the newest secret of the tests, long enough',
  'an older secret of the tests, long enough',
])
const number = 64500

let database: TestDatabase
let teams: { ours: number; theirs: number }
/** The content of the registries, which tests change. */
let world: {
  now: Date
  autNum: string | undefined | Error
  txt: Record<string, string[]> | Error
  origins: string[] | Error
  roas: [string, number][] | Error
}
let errors: unknown[]

before(async () => {
  database = await createTestDatabase()
})
beforeEach(async () => {
  const add = async (slug: string) =>
    (
      await database.postgres.owner
        .insertInto('teams')
        .values({ slug, name: slug, enabled_modules: ['ipam'] })
        .returning('id')
        .executeTakeFirstOrThrow()
    ).id
  teams = { ours: await add('ours'), theirs: await add('theirs') }
  world = { now: new Date(), autNum: undefined, txt: {}, origins: [], roas: [] }
  errors = []
})
afterEach(async () => {
  await sql`delete from teams`.execute(database.postgres.owner)
})
after(() => database[Symbol.asyncDispose]())

function given<T>(value: T | Error): T {
  if (value instanceof Error) throw value
  return value
}

const sources: AsnProofSources = {
  irr: {
    autNum: async () => {
      const text = given(world.autNum)
      const fetched = new Date()
      return text === undefined
        ? { state: 'missing', fetched }
        : { state: 'found', text, source: 'irr', fetched }
    },
  },
  txt: { resolveTxt: async (name) => given(world.txt)[name] ?? [] },
  rpki: {
    originsOf: async () => given(world.origins).map(parsePrefix),
    judge: () => ({
      state: 'mismatch_asn',
      covering: given(world.roas).map(([prefix, asn]) => ({
        prefix: parsePrefix(prefix),
        maxLength: 24,
        asn,
      })),
      source: 'RTR cache',
      asOf: new Date(),
    }),
  },
}

/** Creates a new process each time: its limits are unused. */
const depsOf = (rest: Partial<VerifyAsnDeps> = {}): VerifyAsnDeps => ({
  postgres: database.postgres,
  ring,
  sources,
  allowDocumentationAsns: true,
  now: () => world.now,
  onCheckError: (error) => errors.push(error),
  refreshes: createRefreshLimits(),
  ...rest,
})

const userOf = (teamId: number): Actor => ({
  kind: 'user',
  teamId,
  userId: 1,
  sessionId: 'session',
  roles: ['editor'],
  isStaff: false,
  staffRoles: [],
  access: null,
  isLocal: true,
  blockedBy: null,
  modules: ['ipam'],
  limits: null,
})

const operationOf = (actor: Actor): Operation => ({
  actor,
  requestId: 'request',
  address: '192.0.2.1',
  dryRun: false,
  ifMatch: null,
  idempotency: null,
})

type Asked = { team?: number; asn?: number; method?: AsnProofMethod[]; deps?: VerifyAsnDeps; actor?: Actor }

async function verify(refresh: boolean, asked: Asked = {}): Promise<AsnVerification> {
  const actor = asked.actor ?? userOf(asked.team ?? teams.ours)
  const query = { refresh, ...(asked.method && { method: asked.method }) }
  const { body } = await verifyAsn(asked.deps ?? depsOf(), operationOf(actor), asked.asn ?? number, query)
  return body
}

const ask = (asked?: Asked) => verify(false, asked)
const refresh = (asked?: Asked) => verify(true, asked)
const methodOf = ({ methods }: AsnVerification, name: AsnProofMethod) =>
  methods.find(({ method }) => method === name)!
const statesOf = ({ methods }: AsnVerification) =>
  Object.fromEntries(methods.map(({ method, state }) => [method, state]))

const tokensOf = (teamId: number) => asnTokens(ring, teamId, parseAsn(number))
const autNumWith = (token: string) =>
  `aut-num: AS${number}\nas-name: OURS-AS\nremarks: ${token}\nmnt-by: OURS-MNT\nsource: RIPE\n`
const proveBy = (teamId: number) => {
  world.autNum = autNumWith(tokensOf(teamId)[0])
}

const find = (teamId = teams.ours, now = world.now) =>
  database.postgres.inTeam(teamId, (trx) => findVerifiedAsn(trx, teamId, parseAsn(number), now))

async function rowsOf(table: 'asns' | 'asn_proofs' | 'audit_entries'): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<
    Record<string, unknown>
  >`select * from ${sql.table(table)} where team_id = any(${[teams.ours, teams.theirs]})`.execute(
    database.postgres.owner,
  )
  return rows
}
const actionsOf = async () =>
  (await rowsOf('audit_entries')).map(({ action, actor }) => `${action} by ${actor}`)

/** Returns the notifications caused by `work`. */
async function notificationsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const client = await database.postgres.directConnection()
  const notifications: string[] = []
  client.on('notification', ({ payload }) => notifications.push(payload ?? ''))
  await client.query('listen pharos')
  await work()
  await client.query('select')
  await client.end()
  return notifications
}

describe('the instructions for verifying an ASN', () => {
  it('describe each method, query only the prefixes that the ASN originates, and store nothing', async () => {
    world = { ...world, autNum: new Error('asked'), txt: new Error('asked'), roas: new Error('asked') }
    world.origins = ['203.0.113.0/24']
    const answer = await ask()
    const [token] = tokensOf(teams.ours)
    assert.deepEqual(statesOf(answer), {
      aut_num: 'pending',
      dns_txt: 'pending',
      roa: 'pending',
      rdap_email: 'unavailable',
      peeringdb: 'unavailable',
    })
    assert.equal(methodOf(answer, 'aut_num').token, token)
    assert.match(methodOf(answer, 'aut_num').instructions, new RegExp(`remarks: +${token}$`))
    assert.match(
      methodOf(answer, 'dns_txt').instructions,
      new RegExp(`_pharos-asn.113.0.203.in-addr.arpa. 3600 IN TXT "${token}"`),
    )
    assert.equal(methodOf(answer, 'peeringdb').token, null)
    assert.match(methodOf(answer, 'peeringdb').note, /not configured/)
    assert.equal(answer.verified, null)
    assert.deepEqual([await rowsOf('asns'), await rowsOf('asn_proofs'), await actionsOf()], [[], [], []])
    assert.deepEqual(errors, [])
  })

  it('include only the requested methods', async () => {
    const answer = await ask({ method: ['roa', 'aut_num'] })
    assert.deepEqual(Object.keys(statesOf(answer)).toSorted(), ['aut_num', 'roa'])
  })

  it('are refused for a reserved ASN', async () => {
    for (const asn of [23456, 64512, 65535, 65551 + 1, 4200000000, 4294967295])
      await assert.rejects(ask({ asn }), { code: 'reserved_asn' })
    await assert.rejects(ask({ deps: depsOf({ allowDocumentationAsns: false }) }), { code: 'reserved_asn' })
    assert.equal((await ask({ asn: 3333, deps: depsOf({ allowDocumentationAsns: false }) })).asn, 3333)
  })

  it('show every method as unavailable if no source is configured', async () => {
    const answer = await refresh({ deps: depsOf({ sources: {} }) })
    assert.deepEqual(new Set(Object.values(statesOf(answer))), new Set(['unavailable']))
    assert.equal(answer.verified, null)
  })
})

describe('proving an ASN', () => {
  it('requires one method, lasts 180 days, is audited and wakes the validator', async () => {
    proveBy(teams.ours)
    const notifications = await notificationsDuring(() => refresh())
    const answer = await ask()
    assert.equal(answer.verified_by, 'aut_num')
    assert.equal(answer.holder, 'OURS-AS')
    assert.equal(answer.rir, 'ripe')
    assert.equal(Date.parse(answer.expires!) - Date.parse(answer.verified!), 180 * dayMs)
    assert.equal(methodOf(answer, 'aut_num').state, 'valid')
    assert.equal(methodOf(answer, 'aut_num').checked, world.now.toISOString())
    assert.deepEqual(await actionsOf(), ['asn.verify by user:1'])
    assert.ok(
      notifications.includes('validations') && notifications.includes('ownership'),
      String(notifications),
    )
    assert.equal((await find())?.verifiedBy, 'aut_num')
    assert.equal(await find(teams.theirs), undefined)
  })

  it('has evidence only in a ROA of a prefix of the team, and none in that of another team’s', async () => {
    world.roas = [['203.0.113.0/24', number]]
    const add = (teamId: number) =>
      database.postgres.owner
        .insertInto('prefixes')
        .values({ team_id: teamId, prefix: '203.0.113.0/24' })
        .execute()
    await add(teams.theirs)
    assert.equal(methodOf(await refresh(), 'roa').state, 'missing')
    await add(teams.ours)
    const answer = await refresh()
    assert.deepEqual(
      [methodOf(answer, 'roa').state, answer.verified, answer.verified_by],
      ['valid', null, null],
    )
    assert.deepEqual([await rowsOf('asns'), await actionsOf()], [[], []])
    assert.deepEqual(methodOf(answer, 'roa').evidence, {
      prefix: '203.0.113.0/24',
      max_length: 24,
      asn: number,
    })
  })

  it('has evidence in a ROA of an announcement that passed its checks, and none in one that did not', async () => {
    world.roas = [['203.0.113.0/24', number]]
    const { owner } = database.postgres
    await sql`insert into announcements (team_id, prefix, origin_asn, managed_by)
      values (${teams.ours}, '203.0.113.0/24', ${number}, 'team')`.execute(owner)
    const stateOf = async () => methodOf(await refresh(), 'roa').state
    assert.equal(await stateOf(), 'missing')
    await sql`update announcements set claimed = now() where team_id = ${teams.ours}`.execute(owner)
    assert.equal(await stateOf(), 'valid')
    await sql`update announcements set deleted = now() where team_id = ${teams.ours}`.execute(owner)
    assert.equal(await stateOf(), 'missing')
  })

  it('accepts the token of an older key, and not that of another team', async () => {
    world.autNum = autNumWith(tokensOf(teams.theirs)[0])
    assert.equal((await refresh()).verified, null)
    world.autNum = autNumWith(tokensOf(teams.ours)[1]!)
    assert.equal((await refresh()).verified_by, 'aut_num')
  })

  it('keeps the row that the operator created, and never overwrites a verification by the operator', async () => {
    const { owner } = database.postgres
    await owner.insertInto('asns').values({ team_id: teams.ours, asn: number, name: 'backbone' }).execute()
    proveBy(teams.ours)
    await refresh()
    const [row] = await rowsOf('asns')
    assert.deepEqual([row!['name'], row!['verified_by']], ['backbone', 'aut_num'])
    await sql`update asns set verified_by = null, expires = null, verified = '2020-01-01Z'`.execute(owner)
    const answer = await refresh()
    assert.deepEqual(
      [answer.verified, answer.verified_by, answer.expires],
      ['2020-01-01T00:00:00.000Z', 'operator', null],
    )
  })

  it('keeps the verification if a registry or a check fails, and reports the state of each method', async () => {
    proveBy(teams.ours)
    await refresh()
    const down = new DriverError('unreachable', 'down')
    const bug = new TypeError('a bug')
    world = { ...world, autNum: down, origins: bug }
    const answer = await refresh()
    assert.deepEqual(
      [methodOf(answer, 'aut_num').state, methodOf(answer, 'dns_txt').state],
      ['unavailable', 'error'],
    )
    assert.equal(answer.verified_by, 'aut_num')
    assert.deepEqual(errors, [bug])
  })
})

describe('an ASN of another team', () => {
  beforeEach(async () => {
    proveBy(teams.theirs)
    await refresh({ team: teams.theirs })
  })

  it('is a conflict: the methods are checked, and nothing is verified', async () => {
    proveBy(teams.ours)
    const answer = await refresh()
    assert.equal(methodOf(answer, 'aut_num').state, 'valid')
    assert.deepEqual([answer.conflict, answer.verified, answer.verified_by], [true, null, null])
    assert.equal(await find(), undefined)
    assert.equal((await ask({ team: teams.theirs })).conflict, false)
  })

  it('is no conflict once the proof of the other team has expired', async () => {
    await sql`update asns set expires = now() - interval '1 second'`.execute(database.postgres.owner)
    proveBy(teams.ours)
    const answer = await refresh()
    assert.deepEqual([answer.conflict, answer.verified_by], [false, 'aut_num'])
    // The other team proves it again, too late.
    proveBy(teams.theirs)
    assert.equal((await refresh({ team: teams.theirs })).verified, null)
  })

  it('is verified for only one team if both prove it at the same moment', async () => {
    await sql`delete from asns`.execute(database.postgres.owner)
    const both = `${tokensOf(teams.ours)[0]} ${tokensOf(teams.theirs)[0]}`
    for (let round = 0; round < 10; round++) {
      world.autNum = autNumWith(both)
      await Promise.all([refresh(), refresh({ team: teams.theirs })])
      const verified = (await rowsOf('asns')).filter((row) => row['verified'] !== null)
      assert.equal(verified.length, 1)
      await sql`delete from asns`.execute(database.postgres.owner)
    }
  })
})

describe('a refresh', () => {
  it('requires the scope ipam:write for API tokens; reading does not', async () => {
    const tokenWith = (scopes: string[]): Actor => ({
      kind: 'token',
      teamId: teams.ours,
      tokenId: 'abc',
      roles: ['editor'],
      isStaff: false,
      staffRoles: [],
      modules: ['ipam'],
      limits: null,
      scopes,
    })
    await assert.rejects(refresh({ actor: tokenWith(['ipam:read']) }), { code: 'scope_missing' })
    await ask({ actor: tokenWith(['ipam:read']) })
    await refresh({ actor: tokenWith(['ipam:read', 'ipam:write']) })
  })

  it('is limited to one a minute per team and ASN', async () => {
    const clock = { ms: 0 }
    const deps = depsOf({ refreshes: createRefreshLimits(() => clock.ms) })
    await refresh({ deps })
    await assert.rejects(refresh({ deps }), { code: 'rate_limited', retryAfterSeconds: 60 })
    await ask({ deps })
    await refresh({ deps, asn: number + 1 })
    await refresh({ deps, team: teams.theirs })
    clock.ms = 60_000
    await refresh({ deps })
  })

  it('is limited to thirty ASNs of a team in a short time', async () => {
    const deps = depsOf({ refreshes: createRefreshLimits(() => 0), sources: {} })
    for (let n = 0; n < 30; n++) await refresh({ deps, asn: 200_000 + n, method: ['roa'] })
    await assert.rejects(refresh({ deps, asn: 200_030 }), { code: 'rate_limited' })
  })
})

describe('the daily check', () => {
  const later = (days: number) => {
    world.now = new Date(world.now.getTime() + days * dayMs)
  }
  const recheck = () => recheckAsns(depsOf(), never)
  const stand = async () => (await rowsOf('asns'))[0]!

  beforeEach(async () => {
    proveBy(teams.ours)
    await refresh()
  })

  it('runs once a day, and extends proofs that are still valid', async () => {
    const { verified, expires } = await stand()
    assert.equal((await recheck()).checked, 0)
    later(1.01)
    assert.deepEqual(await recheck(), { checked: 1, expired: 0, failed: 0 })
    assert.equal((await recheck()).checked, 0)
    const after = await stand()
    assert.deepEqual(after['verified'], verified)
    assert.equal((after['expires'] as Date).getTime() - (expires as Date).getTime(), 1.01 * dayMs)
  })

  it('reports a missing proof, and ends nothing before its expiry', async () => {
    world.autNum = autNumWith('nothing')
    for (let day = 0; day < 3; day++) {
      later(1.01)
      await recheck()
    }
    const answer = await ask()
    assert.match(methodOf(answer, 'aut_num').note, /has been missing since .*the verification ends on/)
    assert.equal(answer.verified_by, 'aut_num')
  })

  it('ends the verification after its expiry, audited and with a notification to the validator', async () => {
    world.autNum = undefined
    later(181)
    assert.equal(await find(), undefined)
    const notifications = await notificationsDuring(async () => assert.equal((await recheck()).expired, 1))
    assert.ok(notifications.includes('validations'))
    const row = await stand()
    assert.deepEqual([row['verified'], row['verified_by'], row['expires']], [null, null, null])
    assert.deepEqual(await actionsOf(), ['asn.verify by user:1', 'asn.expire by pharos'])
    assert.equal((await recheck()).checked, 0)
    assert.equal((await ask()).verified, null)
  })

  it('ends nothing while the registry does not answer, however long', async () => {
    world.autNum = new DriverError('unreachable', 'down')
    for (const days of [179, 1, 30]) {
      later(days)
      await recheck()
      assert.ok(await find(), `after ${days} more days`)
    }
  })

  it('does not extend a proof through evidence of address space if the token is gone', async () => {
    world = { ...world, autNum: undefined, origins: ['203.0.113.0/24'] }
    world.txt = { '_pharos-asn.113.0.203.in-addr.arpa': [tokensOf(teams.ours)[0]] }
    later(1.01)
    await recheck()
    const answer = await ask()
    assert.deepEqual([methodOf(answer, 'dns_txt').state, answer.verified_by], ['valid', 'aut_num'])
    later(180)
    assert.equal((await recheck()).expired, 1)
    assert.equal((await ask()).verified, null)
  })

  it('leaves verifications by the operator unchanged', async () => {
    await sql`update asns set verified_by = null, expires = null`.execute(database.postgres.owner)
    later(1_000)
    assert.equal((await recheck()).checked, 0)
    assert.equal((await find())?.verifiedBy, 'operator')
  })

  it('covers more rows than one page, and continues after one that fails', async () => {
    const { owner } = database.postgres
    await sql`insert into asns (team_id, asn, verified, verified_by, expires)
      select ${teams.ours}, n, now(), 'aut_num', now() + interval '100 days'
      from generate_series(200001, 200150) n`.execute(owner)
    // The audit entry of its end is rejected.
    await sql`update asns set expires = now() - interval '1 day' where asn = 200075`.execute(owner)
    await sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`.execute(
      owner,
    )
    await sql`create trigger refuse before insert on audit_entries for each row execute function refuse()`.execute(
      owner,
    )
    try {
      assert.deepEqual(await recheck(), { checked: 150, expired: 0, failed: 1 })
    } finally {
      await sql`drop function refuse cascade`.execute(owner)
    }
    assert.equal(errors.length, 1)
    assert.deepEqual(await recheck(), { checked: 1, expired: 1, failed: 0 })
  })

  it('deletes the results of ASNs that are not verified', async () => {
    await refresh({ asn: number + 1 })
    const count = async () => (await rowsOf('asn_proofs')).length
    const all = await count()
    later(31)
    await recheck()
    assert.equal(await count(), all / 2)
  })
})

describe('with a real name server', { skip: skipWithout('nsd') }, () => {
  it('is missing, then valid as soon as the record of the instructions exists', async () => {
    await using server = await startNameServer()
    world.origins = ['203.0.113.0/24', '2001:db8::/32']
    const txt = createTxtResolver({ servers: [server.server] })
    const deps = () => depsOf({ sources: { ...sources, txt } })
    const before = methodOf(await refresh({ deps: deps(), method: ['dns_txt'] }), 'dns_txt')
    assert.equal(before.state, 'missing')
    const record = /^(\S+)\. 3600 IN TXT "(.+)"$/m.exec(before.instructions)!
    await server.setRecords([{ name: record[1]!, text: record[2]! }])
    const found = await refresh({ deps: deps(), method: ['dns_txt'] })
    assert.deepEqual([methodOf(found, 'dns_txt').state, found.verified], ['valid', null])
    await server.stop()
    const silent = await refresh({ deps: deps(), method: ['dns_txt'] })
    assert.equal(methodOf(silent, 'dns_txt').state, 'unavailable')
  })
})
