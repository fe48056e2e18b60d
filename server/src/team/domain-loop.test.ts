import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { startNameServer } from '@pharos/lab/name-server'
import type { NameRecord } from '@pharos/lab/name-server'
import { skipWithout } from '@pharos/lab/program'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { saveCheckResult, type DomainCheckDeps } from './domain-check-result.ts'
import { checkDueDomains } from './domain-loop.ts'
import { canonicalDomain, type TeamDomainName } from './domain-name.ts'
import { recordName, recordValues } from './domain-proof.ts'
import { findDomain, insertDomain, type TeamDomain } from './domain.store.ts'
import type { TxtResolver } from './txt-resolver.ts'

const never = new AbortController().signal
const [newest, older] = [
  'the newest secret of the tests, long enough',
  'an older secret of the tests, long enough',
]
const ring = createKeyRing([newest, older])
const dayMs = 86_400_000

let database: TestDatabase
let teams: { ours: number; theirs: number }
let now: Date
let errors: unknown[]

before(async () => {
  database = await createTestDatabase()
})
beforeEach(async () => {
  teams = { ours: await addTeam('ours'), theirs: await addTeam('theirs') }
  now = new Date('2026-03-01T10:00:00Z')
  errors = []
})
afterEach(async () => {
  await sql`delete from teams`.execute(database.postgres.owner)
  await sql`delete from users`.execute(database.postgres.owner)
})
after(() => database[Symbol.asyncDispose]())

async function addTeam(slug: string): Promise<number> {
  const { owner } = database.postgres
  const row = await owner
    .insertInto('teams')
    .values({ slug, name: slug })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

async function addMember(teamId: number, name: string, isAdmin: boolean, confirmed = true): Promise<void> {
  const { owner } = database.postgres
  const email_confirmed = confirmed ? new Date() : null
  const { id } = await owner
    .insertInto('users')
    .values({ email: `${name}@acme.example`, username: name, password_hash: '-', email_confirmed })
    .returning('id')
    .executeTakeFirstOrThrow()
  await owner
    .insertInto('memberships')
    .values({ team_id: teamId, user_id: id, is_admin: isAdmin, roles: [isAdmin ? 'admin' : 'editor'] })
    .execute()
}

const depsOf = (txt: TxtResolver): DomainCheckDeps => ({
  postgres: database.postgres,
  ring,
  txt,
  // A check that hangs in these tests hangs until the test releases it.
  timeoutMs: 60_000,
  now: () => now,
  onCheckError: (error) => errors.push(error),
})

async function add(name: string, teamId = teams.ours): Promise<TeamDomain> {
  const domain = canonicalDomain(name)!
  const added = await database.postgres.inTeam(teamId, (trx) =>
    insertDomain(trx, { teamId, domain, autoJoin: true, now }),
  )
  return added!
}

const read = async ({ teamId, id }: TeamDomain): Promise<TeamDomain> =>
  (await database.postgres.inTeam(teamId, (trx) => findDomain(trx, teamId, id)))!

async function actionsOf(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select action || ' by ' || actor as text from audit_entries
    where team_id = any(${Object.values(teams)}::integer[]) order by at, id`.execute(database.postgres.owner)
  return rows.map(({ text }) => text)
}

async function mailsOf(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select template || ' to ' || recipient as text from mails order by recipient`.execute(
    database.postgres.owner,
  )
  return rows.map(({ text }) => text)
}

/** Runs the loop at the time when the row is due. */
async function turnAtDue(deps: DomainCheckDeps, domain: TeamDomain): Promise<TeamDomain> {
  now = (await read(domain)).due ?? now
  await checkDueDomains(deps, never)
  return read(domain)
}

const valueOf = ({ teamId, domain }: TeamDomain) => recordValues(ring, teamId, domain)[0]
const nameOf = ({ domain }: TeamDomain) => recordName(domain)

describe('the domain loop with a real name server', { skip: skipWithout('nsd') }, () => {
  let server: Awaited<ReturnType<typeof startNameServer>>
  before(async () => {
    server = await startNameServer({ zone: 'example', failing: ['broken.example'] })
  })
  after(() => server[Symbol.asyncDispose]())

  const deps = () => depsOf(createTxtResolver({ servers: [server.server], timeoutMs: 5_000 }))

  async function checkAfter(domain: TeamDomain, ...records: NameRecord[]): Promise<TeamDomain> {
    await server.setRecords(records)
    return turnAtDue(deps(), domain)
  }

  it('verifies a domain at the next check after its record was created', async () => {
    const domain = await add('acme.example')
    const absent = await checkAfter(domain)
    assert.deepEqual([absent.verified, absent.lastCheckResult, absent.lastCheck], [null, 'missing', now])
    const found = await checkAfter(domain, { name: nameOf(domain), text: valueOf(domain) })
    assert.deepEqual([found.verified, found.lastCheckResult], [now, 'valid'])
    assert.ok(now.getTime() - absent.lastCheck!.getTime() < 60_000)
    assert.deepEqual(await actionsOf(), ['domain.verify by pharos'])
  })

  it('distinguishes another text from no record, and another team’s value from its own', async () => {
    const domain = await add('acme.example')
    const [name, value] = [nameOf(domain), valueOf(domain)]
    const theirs = recordValues(ring, teams.theirs, domain.domain)[0]
    const elsewhere = recordValues(ring, teams.ours, 'other.example' as TeamDomainName)[0]
    for (const text of [
      'v=spf1 -all',
      value.slice(0, -1),
      `${value}x`,
      value.toUpperCase(),
      theirs,
      elsewhere,
    ]) {
      const { verified, lastCheckResult } = await checkAfter(domain, { name, text })
      assert.deepEqual([verified, lastCheckResult], [null, 'mismatch'], text)
    }
    for (const at of ['acme.example', `www.${name}`, '_pharos-challenge.other.example'])
      assert.equal((await checkAfter(domain, { name: at, text: value })).lastCheckResult, 'missing', at)
  })

  it('accepts a record of several strings, one of several records, and one through a CNAME', async () => {
    const strings = await add('strings.example')
    const [a, b, c] = [
      valueOf(strings).slice(0, 5),
      valueOf(strings).slice(5, 30),
      valueOf(strings).slice(30),
    ]
    const among = await add('among.example')
    const alias = await add('alias.example')
    await server.setRecords([
      { name: nameOf(strings), text: [a, b, c] },
      { name: nameOf(among), text: 'v=spf1 -all' },
      { name: nameOf(among), text: ` ${valueOf(among)} ` },
      { name: nameOf(alias), alias: 'proofs.elsewhere.example' },
      { name: 'proofs.elsewhere.example', text: valueOf(alias) },
    ])
    await checkDueDomains(deps(), never)
    for (const domain of [strings, among, alias])
      assert.deepEqual((await read(domain)).verified, now, domain.domain)
  })

  it('accepts the value of an older key of the ring', async () => {
    const domain = await add('acme.example')
    const text = recordValues(createKeyRing([older]), teams.ours, domain.domain)[0]
    assert.deepEqual((await checkAfter(domain, { name: nameOf(domain), text })).verified, now)
  })

  it('returns unavailable if a server is down or lost the zone, and ends no verification', async () => {
    const domain = await add('acme.example')
    const broken = await add('broken.example')
    const unknown = await add('acme.com')
    const record = { name: nameOf(domain), text: valueOf(domain) }
    const verified = (await checkAfter(domain, record)).verified
    assert.ok(verified)
    for (const one of [broken, unknown]) assert.equal((await read(one)).lastCheckResult, 'unavailable')
    await server.stop()
    for (let hours = 0; hours < 100; hours++) await turnAtDue(deps(), domain)
    const silent = await read(domain)
    assert.deepEqual([silent.verified, silent.lastCheckResult], [verified, 'unavailable'])
    assert.ok(now.getTime() - verified.getTime() > 4 * dayMs)
    await server.start()
    assert.equal((await checkAfter(domain, record)).lastCheckResult, 'valid')
    assert.deepEqual(errors, [])
  })

  it('ends the verification after three days without the record, and notifies the team’s admins', async () => {
    await addMember(teams.ours, 'one', true)
    await addMember(teams.ours, 'two', true)
    await addMember(teams.ours, 'unconfirmed', true, false)
    await addMember(teams.ours, 'member', false)
    await addMember(teams.theirs, 'other', true)
    const domain = await add('acme.example')
    const began = (await checkAfter(domain, { name: nameOf(domain), text: valueOf(domain) })).verified!
    await server.setRecords([])
    for (const missed of [1, 2]) {
      const state = await turnAtDue(deps(), domain)
      assert.deepEqual([state.verified, state.missed, await mailsOf()], [began, missed, []])
    }
    const lost = await turnAtDue(deps(), domain)
    assert.deepEqual([lost.verified, lost.lastCheckResult], [null, 'missing'])
    assert.ok(now.getTime() - began.getTime() >= 2.5 * dayMs)
    assert.deepEqual(await actionsOf(), ['domain.verify by pharos', 'domain.lose by pharos'])
    assert.deepEqual(await mailsOf(), ['domain-lost to one@acme.example', 'domain-lost to two@acme.example'])
    assert.ok((await checkAfter(domain, { name: nameOf(domain), text: valueOf(domain) })).verified)
  })
})

/** Resolves these texts; a name that begins with `slow` hangs until released. */
function createFake(records: Record<string, string[]>) {
  const asked: { name: string; hanging: number }[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let hanging = 0
  const txt: TxtResolver = {
    async resolveTxt(name) {
      asked.push({ name, hanging })
      if (name.includes('.slow')) {
        hanging++
        await released
      }
      return records[name] ?? []
    },
  }
  return { txt, asked, release }
}

describe('the domain loop', () => {
  it('does not wait for slow servers of another team', async () => {
    const slow: TeamDomain[] = []
    for (let at = 0; at < 40; at++) slow.push(await add(`slow${at}.example`))
    now = new Date(now.getTime() + 1_000)
    const domain = await add('acme.example', teams.theirs)
    const { txt, asked, release } = createFake({ [nameOf(domain)]: [valueOf(domain)] })
    const turn = checkDueDomains(depsOf(txt), never)
    while (!(await read(domain)).verified) await new Promise(setImmediate)
    assert.deepEqual(
      asked.find(({ name }) => name === nameOf(domain)),
      { name: nameOf(domain), hanging: 4 },
    )
    release()
    await turn
    for (let left = 40; left > 0; left--) await checkDueDomains(depsOf(txt), never)
    assert.ok((await Promise.all(slow.map(read))).every(({ lastCheck }) => lastCheck !== null))
  })

  it('checks each row once, across several processes', async () => {
    const domains: TeamDomain[] = []
    for (let at = 0; at < 30; at++)
      domains.push(await add(`a${at}.example`, at % 2 ? teams.ours : teams.theirs))
    const { txt, asked } = createFake({})
    const turns = Array.from({ length: 3 }, () => checkDueDomains(depsOf(txt), never))
    let checked = 0
    for (const turn of await Promise.all(turns)) checked += turn.checked
    while (checked < 30) checked += (await checkDueDomains(depsOf(txt), never)).checked
    assert.equal(checked, 30)
    assert.deepEqual(asked.map(({ name }) => name).toSorted(), domains.map(nameOf).toSorted())
  })

  it('continues if a process died during a check', async () => {
    const domain = await add('acme.example')
    const { txt, release } = createFake({ [nameOf(domain)]: [valueOf(domain)] })
    const abort = new AbortController()
    const dying: TxtResolver = {
      resolveTxt: () => {
        abort.abort(new Error('killed'))
        return new Promise(() => {})
      },
    }
    await checkDueDomains(depsOf(dying), abort.signal).catch(() => {})
    assert.equal((await checkDueDomains(depsOf(txt), never)).checked, 0)
    now = new Date(now.getTime() + 31_000)
    assert.equal((await checkDueDomains(depsOf(txt), never)).verified, 1)
    release()
  })

  it('reports an internal error, and continues with the other domains', async () => {
    const [bad, good] = [await add('bad.example'), await add('good.example')]
    const txt: TxtResolver = {
      resolveTxt: async (name) => {
        if (name === nameOf(bad)) throw new TypeError('a bug')
        return [valueOf(good)]
      },
    }
    await checkDueDomains(depsOf(txt), never)
    assert.deepEqual([(await read(bad)).lastCheckResult, errors.length], ['unavailable', 1])
    assert.ok((await read(good)).verified)
  })

  it('changes nothing for a domain that was deleted during the check', async () => {
    const domain = await add('acme.example')
    const txt: TxtResolver = {
      resolveTxt: async () => {
        await sql`delete from domains`.execute(database.postgres.owner)
        return [valueOf(domain)]
      },
    }
    const turn = await checkDueDomains(depsOf(txt), never)
    assert.deepEqual(turn, { checked: 1, verified: 0, lost: 0, failed: 0 })
    assert.deepEqual(await actionsOf(), [])
  })
})

describe('a domain with records of two teams', () => {
  const both = (...domains: TeamDomain[]) =>
    createFake(Object.fromEntries(domains.map((one) => [nameOf(one), domains.map(valueOf)]))).txt

  it('belongs to the first team; the other gets `claimed` once its record exists too', async () => {
    const [ours, theirs] = [await add('acme.example'), await add('acme.example', teams.theirs)]
    const alone = createFake({ [nameOf(ours)]: [valueOf(ours)] }).txt
    await checkDueDomains(depsOf(alone), never)
    assert.ok((await read(ours)).verified)
    assert.equal((await read(theirs)).lastCheckResult, 'mismatch')
    const claimed = await turnAtDue(depsOf(both(ours, theirs)), theirs)
    assert.deepEqual([claimed.verified, claimed.lastCheckResult], [null, 'claimed'])
    await sql`delete from domains where id = ${ours.id}`.execute(database.postgres.owner)
    assert.ok((await turnAtDue(depsOf(both(ours, theirs)), theirs)).verified)
  })

  it('is verified for only one team if both are checked at the same moment', async () => {
    for (let round = 0; round < 20; round++) {
      const name = `race${round}.example`
      const pair = [await add(name), await add(name, teams.theirs)]
      const deps = depsOf(both(...pair))
      const check = { record: 'valid', onRequest: true } as const
      const prove = (domain: TeamDomain) =>
        database.postgres.inTeam(domain.teamId, (trx) =>
          saveCheckResult(trx, deps, domain, check, { teamId: domain.teamId, actor: 'user:1' }),
        )
      const outcomes = await Promise.all(pair.map(prove))
      assert.deepEqual(outcomes.map((one) => one!.kind).toSorted(), ['keep', 'verify'])
      assert.deepEqual((await Promise.all(pair.map(read))).map((one) => one.lastCheckResult).toSorted(), [
        'claimed',
        'valid',
      ])
    }
  })

  it('does not verify its subdomains, which need their own records', async () => {
    const [parent, child] = [await add('acme.example'), await add('sub.acme.example', teams.theirs)]
    const onlyParent = createFake({ [nameOf(parent)]: [valueOf(parent), valueOf(child)] }).txt
    await checkDueDomains(depsOf(onlyParent), never)
    assert.equal((await read(child)).lastCheckResult, 'missing')
    const own = createFake({ [nameOf(child)]: [valueOf(child)] }).txt
    assert.ok((await turnAtDue(depsOf(own), child)).verified)
  })
})
