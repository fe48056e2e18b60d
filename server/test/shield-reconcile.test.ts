// The loops of shield against a scrubber in memory: rules by time, approvals, planner faults, former holders, and scrubbers that fail.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { compileLists, type CompileResult } from '../src/shield/compile.ts'
import {
  reconcileScrubber,
  type ReconcileDeps,
  type ScrubberRun,
  type ScrubberTarget,
} from '../src/shield/reconcile.ts'
import { saveHits } from '../src/shield/reconcile.store.ts'
import type { RuleCount } from '../src/shield/record-hits.ts'
import { planLists, type Scrubber } from '../src/shield/scrubber.ts'
import { refreshStates, expireLists } from '../src/shield/expire-lists.ts'
import { SandboxScrubber } from '../src/drivers/sandbox-scrubber/scrubber.ts'
import { parsePrefixOrAddress } from '../src/net/prefix.ts'
import { DriverError } from '../src/runtime/driver-error.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import type { Answered } from './support/dns.ts'
import { waitFor } from '../../lab/src/wait.ts'

let api: TestApi
let team: TestTeam
let access = ''
let staff = ''
let networks = 0
let scrubber: SandboxScrubber

before(async () => {
  api = await createTestApi()
  team = await addTeam(api, 'red')
  access = (await api.signIn((await addUser(api, 'admin', [team], { admin: true })).email)).access
  staff = (await api.signIn((await addUser(api, 'staff', [team], { staff: true })).email)).access
  await db()
    .insertInto('scrubbers')
    .values({ name: 'edge', driver: JSON.stringify({ kind: 'sandbox' }) })
    .execute()
  scrubber = new SandboxScrubber({ name: 'edge', rulesMax: 10_000, latencyMs: 0 })
})
after(() => api[Symbol.asyncDispose]())

const db = () => api.database.postgres.owner

async function newPrefix(of = team): Promise<string> {
  const prefix = `198.18.${networks++}.0/24`
  await db().insertInto('prefixes').values({ team_id: of.teamId, prefix }).execute()
  return prefix
}
const hostOf = (prefix: string, host: number): string => prefix.replace('.0/24', `.${host}`)

async function call(
  method: 'GET' | 'PUT' | 'POST',
  url: string,
  body?: object,
  as = access,
): Promise<Answered> {
  const answer = await api.server.inject({
    method,
    url,
    headers: { authorization: `Bearer ${as}` },
    ...(body === undefined ? {} : { payload: body }),
  })
  assert.ok(answer.statusCode < 300, `${answer.statusCode} ${answer.body}`)
  return answer.json()
}
const put = (prefix: string, rules: readonly object[], rest: object = {}, as = access) =>
  call('PUT', '/v3/lighthouse/security/shield/rules', { prefix, rules, force: true, ...rest }, as)
const rulesOf = async (prefix: string): Promise<Answered[]> =>
  (await call('GET', `/v3/lighthouse/security/shield/rules?prefix=${prefix}&include=hits`)).results
const listOf = async (prefix: string, as = access): Promise<Answered> =>
  (await call('GET', `/v3/lighthouse/security/shield/lists?prefix=${prefix}`, undefined, as)).results[0]
const openApprovals = async (): Promise<Answered[]> =>
  (await call('GET', '/v3/admin/approvals?state=open&include=items', undefined, staff)).results
const decide = (id: number, decision: 'approve' | 'reject') =>
  call('POST', `/v3/admin/approvals/${id}/${decision}`, undefined, staff)

/** One run of the loops. */
async function run(
  deps: Partial<ReconcileDeps> = {},
  target: Partial<ScrubberTarget> = {},
): Promise<ScrubberRun> {
  await expireLists(db())
  try {
    return await reconcileScrubber({ db: db(), ...deps }, { name: 'edge', prefixes: [], scrubber, ...target })
  } finally {
    await refreshStates(db())
  }
}

/** Whether a UDP packet from this port to the host passes. */
function passes(prefix: string, sourcePort: number, host = 7): boolean {
  const decided = scrubber.decide({
    destination: parsePrefixOrAddress(hostOf(prefix, host)),
    source: parsePrefixOrAddress('192.0.2.1'),
    protocol: 17,
    sourcePort,
    destinationPort: 40_000,
    packetLength: 500,
    dscp: 0,
    fragment: false,
  })
  return decided === undefined || decided.action.kind === 'allow'
}

async function messagesOf(prefix: string): Promise<string[]> {
  const { rows } = await sql<{ change: string }>`
    select data ->> 'change' as change from (select data::jsonb as data, id from outbox where type = 'shield.list_changed') o
    where data ->> 'prefix' = ${prefix} order by id`.execute(db())
  return rows.map(({ change }) => change)
}

const deny = (port: number, rest: object = {}) => ({
  action: 'deny',
  protocol: 'udp',
  source_port: String(port),
  ...rest,
})
const allow = (port: number) => ({ ...deny(port), action: 'allow' })

describe('a list', () => {
  it('is applied in order, and shown as active once the scrubber holds it', async () => {
    const prefix = await newPrefix()
    await put(prefix, [allow(53), deny(53), deny(123)])
    assert.deepEqual([passes(prefix, 53), passes(prefix, 123)], [true, true])
    await run()
    assert.deepEqual([passes(prefix, 53), passes(prefix, 123)], [true, false])
    const rules = await rulesOf(prefix)
    assert.deepEqual(
      rules.map(({ status, status_reason: reason }) => [status, reason?.code]),
      [
        ['active', undefined],
        ['active', 'shadowed'],
        ['active', undefined],
      ],
    )
    assert.equal((await listOf(prefix)).status, 'active')
    assert.deepEqual(await messagesOf(prefix), ['applied'])
    assert.deepEqual((await run()).applied, 0, 'a second run changes nothing')
  })

  it('is removed from the scrubber when it is cleared', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(123)])
    await run()
    await put(prefix, [])
    assert.equal((await run()).removed, 1)
    assert.equal(passes(prefix, 123), true)
    assert.deepEqual(await openApprovals(), [])
  })

  it('loses a rule when it expires', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(53), deny(123, { expires: new Date(Date.now() + 3_600_000).toISOString() })])
    await run()
    assert.equal(passes(prefix, 123), false)
    await expire(prefix)
    await run()
    assert.deepEqual([passes(prefix, 53), passes(prefix, 123)], [false, true])
    assert.deepEqual(
      (await rulesOf(prefix)).map(({ status }) => status),
      ['active', 'expired'],
    )
    assert.deepEqual((await messagesOf(prefix)).toSorted(), ['applied', 'expired'])
    await put(prefix, [deny(53)], { confirm_within: 600 })
    await endConfirmation(prefix)
    await run()
    assert.deepEqual(
      (await rulesOf(prefix)).map(({ status }) => status),
      ['active', 'expired'],
    )
    const changes = await messagesOf(prefix)
    assert.deepEqual(changes.slice(2), ['reverted', 'applied'], 'the rule that returned did not end again')
  })

  it('does not apply a rule that is not enabled', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(53), deny(123, { enabled: false })])
    await run()
    assert.deepEqual([passes(prefix, 53), passes(prefix, 123)], [false, true])
    const [, disabled] = await rulesOf(prefix)
    assert.deepEqual([disabled.status, disabled.status_reason.code], ['pending', 'disabled'])
  })
})

/** Moves the expiry of the rules of a list into the past, in the version too. */
async function expire(prefix: string): Promise<void> {
  const past = new Date(Date.now() - 1000).toISOString()
  await sql`
    update shield_rules set expires = ${past}::timestamptz where expires is not null
      and list_id = (select id from shield_lists where prefix = ${prefix}::cidr)`.execute(db())
  await sql`
    update shield_versions set rules = (
      select jsonb_agg(case when r -> 'expires' = 'null' then r else r || jsonb_build_object('expires', ${past}::text) end)
      from jsonb_array_elements(rules) r)
    where list_id = (select id from shield_lists where prefix = ${prefix}::cidr)`.execute(db())
}

const endConfirmation = (prefix: string) =>
  sql`update shield_lists set confirm_by = now() - interval '1 second' where prefix = ${prefix}::cidr`.execute(
    db(),
  )

describe('a list that must be confirmed', () => {
  it('is reverted in time by another process, with the ids and hits of the rules before', async () => {
    const prefix = await newPrefix()
    const before = await put(prefix, [deny(53), allow(80)])
    await run()
    await put(prefix, [deny(123)], { confirm_within: 600 })
    await run()
    assert.deepEqual([passes(prefix, 53), passes(prefix, 123)], [true, false])
    await endConfirmation(prefix)
    // Another process: only the rows contain the timer.
    await run()
    assert.deepEqual([passes(prefix, 53), passes(prefix, 123)], [false, true])
    const rules = await rulesOf(prefix)
    assert.deepEqual(
      rules.map(({ id, version }) => [id, version]),
      before.results.map(({ id }: Answered) => [id, 3]),
    )
    const list = await listOf(prefix)
    assert.deepEqual([list.confirm_by, list.previous_version, list.status], [null, null, 'active'])
    assert.deepEqual(await messagesOf(prefix), ['applied', 'applied', 'reverted', 'applied'])
    const { rows } = await sql`
      select from audit_entries where action = 'shield.revert' and target = ${`shield:${prefix}`}`.execute(
      db(),
    )
    assert.equal(rows.length, 1)
  })

  it('is emptied if there was none before', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(123)], { confirm_within: 600 })
    await run()
    await endConfirmation(prefix)
    await run()
    assert.equal(passes(prefix, 123), true)
    assert.deepEqual(await rulesOf(prefix), [])
  })

  it('does not get rules back for a prefix that the team has lost meanwhile', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(123)])
    await put(prefix, [], { confirm_within: 600 })
    await run()
    await sql`delete from prefixes where prefix = ${prefix}::cidr`.execute(db())
    await endConfirmation(prefix)
    await run()
    const { version, rule_count: count, confirm_by: until } = await listOf(prefix)
    assert.deepEqual([version, count, until], [3, 0, null])
    assert.deepEqual(await messagesOf(prefix), ['applied', 'removed', 'applied'])
  })

  it('is reverted although another one cannot be, which is not emptied', async () => {
    const [broken, other] = [await newPrefix(), await newPrefix()]
    for (const prefix of [broken, other]) {
      await put(prefix, [deny(53)])
      await put(prefix, [deny(123)], { confirm_within: 600 })
      await endConfirmation(prefix)
    }
    const { id } = await listOf(broken)
    await sql`delete from shield_versions where list_id = ${id} and version = 1`.execute(db())
    const { reverted, failed } = await expireLists(db())
    assert.deepEqual([reverted, failed.length], [1, 1])
    await run()
    assert.deepEqual([passes(broken, 123), passes(other, 123)], [false, true])
    await put(broken, [deny(123)])
  })

  it('stays if it was confirmed', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(123)], { confirm_within: 600 })
    await put(prefix, [deny(123)], { version: 1 })
    await run()
    await run()
    assert.equal(passes(prefix, 123), false)
    assert.equal((await listOf(prefix)).version, 1)
  })

  it('is either confirmed or reverted if both happen at once', async () => {
    const prefix = await newPrefix()
    for (let round = 0; round < 5; round++) {
      await put(prefix, [deny(1000 + round)], { confirm_within: 600 })
      await endConfirmation(prefix)
      const confirm = api.server.inject({
        method: 'PUT',
        url: '/v3/lighthouse/security/shield/rules',
        headers: { authorization: `Bearer ${access}` },
        payload: { prefix, rules: [deny(1000 + round)], force: true },
      })
      await Promise.all([confirm, expireLists(db()), expireLists(db())])
      const list = await listOf(prefix)
      assert.equal(list.confirm_by, null)
      assert.equal((await confirm).statusCode, 200)
    }
  })
})

describe('a rule for the whole prefix', () => {
  it('waits for staff, once for the same rule, while the version before stays', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(123)])
    await run()
    await put(prefix, [allow(53), { action: 'deny' }])
    assert.deepEqual((await run()).held, 1)
    assert.deepEqual([passes(prefix, 123), passes(prefix, 5000)], [false, true])
    const list = await listOf(prefix)
    assert.deepEqual([list.status, list.status_reason.code], ['pending', 'held'])
    const [approval] = await openApprovals()
    assert.deepEqual(
      [approval.reason, approval.subject.name, approval.team.id],
      ['whole_prefix', prefix, team.teamId],
    )
    const { details } = await call('GET', `/v3/admin/approvals/${approval.id}`, undefined, staff)
    assert.deepEqual(
      details.rules.map((rule: Answered) => [rule.action, rule.source_port]),
      [
        ['allow', '53'],
        ['deny', null],
      ],
    )
    assert.deepEqual(
      details.what_if.rules.map(({ index }: Answered) => index),
      [0, 1],
    )
    await decide(approval.id, 'approve')
    await run()
    assert.deepEqual([passes(prefix, 53), passes(prefix, 5000)], [true, false])
    await put(prefix, [allow(53), allow(443), { action: 'deny' }])
    assert.deepEqual((await run()).held, 0)
    assert.equal(passes(prefix, 443), true)
    assert.deepEqual(await messagesOf(prefix), ['applied', 'held', 'applied', 'applied'])
  })

  it('is not applied after a rejection, and staff are not asked again', async () => {
    const prefix = await newPrefix()
    await put(prefix, [{ action: 'rate_limit', rate_bps: 1000 }])
    await run()
    const [approval] = await openApprovals()
    await decide(approval.id, 'reject')
    await run()
    assert.equal(passes(prefix, 5000), true)
    assert.deepEqual(await openApprovals(), [])
    const { status, status_reason: reason } = await listOf(prefix)
    assert.deepEqual([status, reason.code], ['error', 'not_approved'])
    assert.deepEqual(await messagesOf(prefix), ['held', 'rejected'])
    await put(prefix, [])
    await run()
  })
})

describe('more than 200 new rules of a team', () => {
  let writers = 0
  /** A team with three lists of 100 rules each, for which the scrubber has run. */
  async function writeMany() {
    const many = await addTeam(api, `many-${writers++}`)
    const as = (await api.signIn((await addUser(api, 'writer', [many], { admin: true })).email)).access
    const prefixes = [await newPrefix(many), await newPrefix(many), await newPrefix(many)] as const
    const write = (prefix: string, rules: readonly object[], rest: object = {}) =>
      put(prefix, rules, rest, as)
    for (const prefix of prefixes) await write(prefix, hundred)
    await run()
    /** Simulates that eleven minutes have passed. */
    const wait = async () => {
      const at = (column: string) => sql`(${sql.raw(column)})::timestamptz - interval '11 minutes'`
      await sql`update shield_rules set created = ${at('created')} where team_id = ${many.teamId}`.execute(
        db(),
      )
      await sql`update approvals set created = ${at('created')} where team_id = ${many.teamId}`.execute(db())
      await sql`update shield_versions set created = ${at('created')}, rules = (
          select jsonb_agg(r || jsonb_build_object('created', ${at("r ->> 'created'")}) order by (r -> 'sequence')::integer)
          from jsonb_array_elements(rules) r)
        where team_id = ${many.teamId} and rules <> '[]'`.execute(db())
    }
    const statusOf = async (prefix: string) => {
      const { status, status_reason: reason } = await listOf(prefix, as)
      return [status, reason?.code]
    }
    const clear = async () => {
      for (const prefix of prefixes) await write(prefix, [])
      await run()
    }
    return { prefixes, write, wait, statusOf, clear }
  }
  const hundred = Array.from({ length: 100 }, (_, at) => deny(1000 + at))

  it('wait for staff for as long as they decide nothing, at every scrubber and in every version', async () => {
    const { prefixes, write, wait, statusOf, clear } = await writeMany()
    const [first, second, third] = prefixes
    for (const prefix of [first, second]) assert.deepEqual(await statusOf(prefix), ['active', undefined])
    const [approval] = await openApprovals()
    assert.deepEqual([approval.reason, approval.subject.name], ['many_rules', third])
    await wait()
    await run()
    await write(third, [...hundred.slice(1), { ...hundred[0], comment: 'moved' }])
    await run()
    await write(first, [])
    await run()
    await run(
      {},
      { name: 'other', scrubber: new SandboxScrubber({ name: 'other', rulesMax: 10_000, latencyMs: 0 }) },
    )
    assert.deepEqual(
      (await openApprovals()).map(({ id, items, subject }) => [
        id === approval.id,
        items[0].router,
        subject.name,
      ]),
      [
        [false, 'other', third],
        [true, 'edge', third],
      ],
    )
    assert.equal(passes(third, 1000), true)
    await write(third, hundred.slice(1))
    await run()
    assert.equal(passes(third, 1001), false, 'another plan, of which no rule is one of many')
    await sql`delete from approvals where scrubber = 'other'`.execute(db())
    await clear()
  })

  it('are not applied after a rejection, and staff are not asked again', async () => {
    const { prefixes, write, wait, statusOf, clear } = await writeMany()
    const [first, , third] = prefixes
    await decide((await openApprovals())[0].id, 'reject')
    await wait()
    await run()
    await write(first, [])
    await write(third, hundred.toReversed())
    await run()
    assert.deepEqual([passes(third, 1000), await openApprovals()], [true, []])
    assert.deepEqual(await statusOf(third), ['error', 'not_approved'])
    await clear()
  })

  it('are approved once, also for a scrubber that lost them and for a part of them', async () => {
    const { prefixes, write, wait, clear } = await writeMany()
    const [, , third] = prefixes
    await decide((await openApprovals())[0].id, 'approve')
    await run()
    assert.equal(passes(third, 1000), false)
    await wait()
    for (const rules of [hundred, hundred.slice(50)]) {
      await write(third, rules)
      const empty = new SandboxScrubber({ name: 'edge', rulesMax: 10_000, latencyMs: 0 })
      assert.equal((await run({}, { scrubber: empty })).held, 0)
      assert.ok((await empty.list()).some((list) => list.prefix === third && list.ruleCount === rules.length))
    }
    await clear()
  })

  it('are not those that a revert restores', async () => {
    const { prefixes, write, wait, clear } = await writeMany()
    await clear()
    for (const prefix of prefixes) {
      await wait()
      await write(prefix, hundred)
    }
    await run()
    assert.deepEqual(await openApprovals(), [])
    for (const prefix of prefixes) await write(prefix, [], { confirm_within: 600 })
    await run()
    for (const prefix of prefixes) await endConfirmation(prefix)
    await run()
    for (const prefix of prefixes) assert.equal(passes(prefix, 1000), false)
    await clear()
  })
})

describe('a list around one that waits for staff', () => {
  const asRouters: Partial<ReconcileDeps> = {
    compile: (lists, can) => compileLists(lists, { ...can, ordering: 'flowspec' }),
  }

  it('keeps the rules that the list inside it would hide, and can change', async () => {
    const prefix = await newPrefix()
    const inside = prefix.replace('/24', '/25')
    const onHost = (port: number) => deny(port, { destination: hostOf(prefix, 7) })
    await put(prefix, [onHost(53)])
    await run(asRouters)
    await put(inside, [{ action: 'deny' }])
    await put(prefix, [onHost(53), onHost(123)])
    for (const decision of ['reject', 'approve'] as const) {
      await run(asRouters)
      assert.deepEqual(
        [53, 123, 5000].map((port) => passes(prefix, port)),
        [false, false, true],
      )
      const [approval, ...others] = await openApprovals()
      assert.deepEqual([approval.reason, approval.subject.name, others], ['whole_prefix', inside, []])
      assert.equal((await listOf(prefix)).status, 'active')
      await decide(approval.id, decision)
      await run(asRouters)
      assert.deepEqual([passes(prefix, 53), passes(prefix, 5000)], [false, decision === 'reject'])
      await put(inside, [{ action: 'rate_limit', rate_bps: 8 }])
    }
    assert.deepEqual(await openApprovals(), [])
    for (const one of [inside, prefix]) await put(one, [])
    await run()
  })
})

type Fault = (compiled: CompileResult) => CompileResult
const mapRules = (compiled: CompileResult, map: (rules: readonly Answered[], at: number) => Answered[]) => ({
  ...compiled,
  lists: compiled.lists.map((list, at) => ({ ...list, rules: map(list.rules, at) })),
})
/** Results of a defective compiler. */
const faults: Record<string, Fault> = {
  'no lists': (compiled) => ({ ...compiled, lists: [] }),
  'half of the lists': (compiled) => ({ ...compiled, lists: compiled.lists.filter((_, at) => at % 2 === 0) }),
  'lists without rules': (compiled) => mapRules(compiled, () => []),
  'lists without their last rule': (compiled) => mapRules(compiled, (rules) => rules.slice(0, -1)),
  'everything denied': (compiled) =>
    mapRules(compiled, (rules) => rules.map((rule) => ({ ...rule, action: { kind: 'deny' } }))),
  'matches without ports': (compiled) =>
    mapRules(compiled, (rules) =>
      rules.map((rule) => ({ ...rule, match: { destination: rule.match.destination } })),
    ),
  'rules of another list': (compiled) =>
    mapRules(compiled, (_, at) => [...compiled.lists.at(at - 1)!.rules] as Answered[]),
}

describe('a limit that a scrubber applies in parts', () => {
  it('says how much more may pass', async () => {
    const prefix = await newPrefix()
    const ports = Array.from({ length: 80 }, (_, at) => 1000 + 2 * at).join()
    const limit = { action: 'rate_limit', protocol: 'udp', destination_port: ports, rate_bps: 8_000 }
    await put(prefix, [limit])
    await run({ compile: (lists, can) => compileLists(lists, { ...can, ordering: 'flowspec' }) })
    const [rule] = await rulesOf(prefix)
    assert.deepEqual([rule!.status, rule!.status_reason.code], ['active', 'limit_in_parts'])
    assert.match(rule!.status_reason.detail, /2 parts/)
  })
})

describe('a list that a scrubber cannot apply', () => {
  const asRouters: Partial<ReconcileDeps> = {
    compile: (lists, can) =>
      compileLists(lists, { ...can, ordering: 'flowspec', packetRate: false, families: [4] }),
  }

  it('names the other rule by its id, and in the text by its sequence, also after it was moved', async () => {
    const prefix = await newPrefix()
    const ends = { protocol: 'udp', source: '198.51.100.1', destination: hostOf(prefix, 9) }
    const first = { ...ends, action: 'allow', destination_port: '1000-2000' }
    const second = { ...ends, action: 'deny', destination_port: '80-1500' }
    const stored = await put(prefix, [first, second])
    await run(asRouters)
    const reasonOf = async () => {
      const [rule] = await rulesOf(prefix)
      const { status_reason: ofList, status } = await listOf(prefix)
      return [status, rule!.status, rule!.status_reason.other, rule!.status_reason.detail, ofList.detail]
    }
    const [id, rule] = [stored.results[1].id, await reasonOf()]
    assert.deepEqual(rule.slice(0, 3), ['error', 'rejected', id])
    for (const text of rule.slice(3)) assert.match(text, /evaluate rule 10 in its place before rule 20\./)
    await put(prefix, [
      { ...first, sequence: 100 },
      { ...second, sequence: 300 },
    ])
    await run(asRouters)
    const moved = await reasonOf()
    assert.equal(moved[2], id)
    for (const text of moved.slice(3)) assert.match(text, /evaluate rule 100 in its place before rule 300\./)
    await put(prefix, [])
    await run()
  })

  it('has the code of what the scrubber is unable to do', async () => {
    const prefix = await newPrefix()
    await put(prefix, [{ action: 'rate_limit', protocol: 'udp', rate_pps: 100 }])
    const prefix6 = '2001:db8:7::/48'
    await db().insertInto('prefixes').values({ team_id: team.teamId, prefix: prefix6 }).execute()
    await put(prefix6, [{ action: 'deny', protocol: 'udp' }])
    await run(asRouters)
    for (const [of, feature, text] of [
      [prefix, 'packet_rate', /^The scrubber cannot limit packets per second\.$/],
      [prefix6, 'ip_version', /^The scrubber cannot filter packets of the IP version of the prefix\.$/],
    ] as const) {
      const { code, detail, ...reason } = (await rulesOf(of))[0]!.status_reason
      assert.deepEqual([code, reason], ['unsupported', { other: null, feature }])
      assert.match(detail, text)
      await put(of, [])
    }
    await run()
  })
})

describe('a scrubber without room', () => {
  const rulesMax = 10
  const small = new SandboxScrubber({ name: 'edge', rulesMax, latencyMs: 0 })
  const countOf = async (): Promise<number> =>
    (await small.list()).reduce((sum, { ruleCount }) => sum + ruleCount, 0)
  const ports = (count: number) => Array.from({ length: count }, (_, at) => deny(1000 + at))

  it('keeps the lists that it holds, which can change, and refuses a new one until there is room', async () => {
    const [held, wanted] = [await newPrefix(), hostOf(await newPrefix(), 7) + '/32']
    const target = { scrubber: small, prefixes: [held, wanted].map(parsePrefixOrAddress) }
    await put(held, ports(8))
    await run({}, target)
    await put(wanted, ports(5))
    await run({}, target)
    const states = async () => [
      await countOf(),
      (await listOf(held)).status,
      (await listOf(wanted)).status,
      (await listOf(wanted)).status_reason?.code,
    ]
    assert.deepEqual(await states(), [8, 'active', 'error', 'too_many_rules'])
    await put(held, [deny(99), ...ports(7)])
    await run({}, target)
    assert.deepEqual(await states(), [8, 'active', 'error', 'too_many_rules'], 'it may be changed')
    await put(held, [deny(99), ...ports(4)])
    await run({}, target)
    assert.deepEqual(await states(), [5, 'active', 'pending', 'waiting'], 'the rules were in place until now')
    await run({}, target)
    assert.deepEqual(await states(), [10, 'active', 'active', undefined])
    for (const prefix of [held, wanted]) await put(prefix, [])
    await run({}, target)
    await run()
  })
})

describe('a fault of the planner', () => {
  for (const [name, fault] of Object.entries(faults)) {
    it(`removes and adds nothing, and waits for staff: ${name}`, async () => {
      const prefixes = [await newPrefix(), await newPrefix(), await newPrefix(), await newPrefix()]
      for (const prefix of prefixes) await put(prefix, [allow(53), deny(53 + 70), deny(19)])
      await run()
      const before = await scrubber.list()
      const compile: typeof compileLists = (lists, can) => fault(compileLists(lists, can))
      await run({ compile })
      assert.deepEqual(await scrubber.list(), before)
      assert.notEqual((await openApprovals()).length, 0)
      await run()
      assert.deepEqual(await openApprovals(), [], 'closed once the plan is right')
    })
  }

  it('leaves a list alone that has an unreadable rule, and applies the others', async () => {
    const [broken, other] = [await newPrefix(), await newPrefix()]
    await put(broken, [deny(19)])
    await run()
    const { id } = await listOf(broken)
    await sql`update shield_rules set match = match || '{"source_port": "99999"}' where list_id = ${id}`.execute(
      db(),
    )
    await put(other, [deny(19)])
    await run()
    assert.deepEqual([passes(broken, 19), passes(other, 19)], [false, false])
    const [rule] = await rulesOf(broken)
    assert.deepEqual([rule!.status, rule!.status_reason.code], ['rejected', 'unreadable'])
    assert.deepEqual(await openApprovals(), [])
    await put(broken, [deny(53)])
    await run()
    assert.deepEqual([passes(broken, 19), passes(broken, 53)], [true, false])
  })

  it('never takes a rule away, whatever the plan removes', async () => {
    const before = await scrubber.list()
    assert.ok(before.length > 3)
    await fc.assert(
      fc.asyncProperty(fc.subarray([...before], { minLength: 1 }), async (gone) => {
        const remove = gone.map(({ prefix }) => prefix)
        const plan: typeof planLists = (...args) => ({ ...planLists(...args), remove })
        await run({ plan })
        assert.deepEqual(await scrubber.list(), before)
      }),
      { numRuns: 20 },
    )
    await run()
  })

  it('is noticed if the database returns no list at all', async () => {
    const before = await scrubber.list()
    await assert.rejects(
      db()
        .transaction()
        .execute(async (trx) => {
          await sql`delete from shield_lists`.execute(trx)
          const run = await reconcileScrubber({ db: readsOf(trx) }, { name: 'edge', prefixes: [], scrubber })
          assert.deepEqual([run.removed, run.held], [0, 1])
          const { rows } = await sql<{ reason: string }>`
            select findings -> 0 ->> 'reason' as reason from approvals where state = 'open'`.execute(trx)
          assert.deepEqual(rows, [{ reason: 'no_lists' }])
          throw new Error('rolled back')
        }),
      /rolled back/,
    )
    assert.deepEqual(await scrubber.list(), before)
  })
})

/** The connection of a transaction as a database whose transactions are parts of it. */
const readsOf = (trx: unknown): ReconcileDeps['db'] =>
  new Proxy(trx as ReconcileDeps['db'], {
    get(target, name) {
      const builder = {
        setIsolationLevel: () => builder,
        setAccessMode: () => builder,
        execute: (work: (one: unknown) => unknown) => work(target),
      }
      return name === 'transaction' ? () => builder : Reflect.get(target, name, target)
    },
  })

describe('a prefix that leaves the team', () => {
  it('loses its list, with an audit entry and a message', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(123)])
    await run()
    await sql`delete from prefixes where prefix = ${prefix}::cidr`.execute(db())
    await run()
    assert.equal(passes(prefix, 123), true)
    assert.deepEqual(await messagesOf(prefix), ['applied', 'removed', 'applied'])
    const { rows } = await sql`
      select from audit_entries where action = 'shield.remove' and target = ${`shield:${prefix}`}`.execute(
      db(),
    )
    assert.equal(rows.length, 1)
  })

  it('keeps its list if many prefixes leave at once, until staff approve', async () => {
    const prefixes = [await newPrefix(), await newPrefix(), await newPrefix(), await newPrefix()]
    for (const prefix of prefixes) await put(prefix, [deny(123)])
    await run()
    await sql`delete from prefixes where prefix = any(${prefixes}::cidr[])`.execute(db())
    await run()
    for (const prefix of prefixes) assert.equal(passes(prefix, 123), false)
    const [approval] = await openApprovals()
    assert.deepEqual(
      [approval.reason, approval.items.map(({ value }: Answered) => value)],
      ['former_holders', prefixes],
    )
    await decide(approval.id, 'approve')
    await run()
    for (const prefix of prefixes) assert.equal(passes(prefix, 123), true)
  })
})

/** Runs `work` while another transaction has locked the lists, as a PUT or the refresh of the states does. */
const whileLocked = <T>(prefixes: readonly string[], work: () => Promise<T>): Promise<T> =>
  db()
    .transaction()
    .execute(async (trx) => {
      await sql`select from shield_lists where prefix = any(${prefixes}::cidr[]) for update`.execute(trx)
      return work()
    })

describe('the guard of lists whose prefixes leave at once', () => {
  let prefixes: string[] = []
  const approvalIds = async () => (await openApprovals()).map(({ id }) => id)

  before(async () => {
    prefixes = [await newPrefix(), await newPrefix(), await newPrefix(), await newPrefix()]
    for (const prefix of prefixes) await put(prefix, [deny(123)])
    await run()
    await sql`delete from prefixes where prefix = any(${prefixes}::cidr[])`.execute(db())
  })

  it('counts lists that another transaction has locked: none is emptied, and one approval stays open', async () => {
    const [first] = prefixes
    const { held, emptied } = await whileLocked([first!], () => expireLists(db()))
    assert.deepEqual([held, emptied], [4, 0])
    const open = await approvalIds()
    assert.equal(open.length, 1)
    for (const locked of [[first!], prefixes]) {
      await whileLocked(locked, () => expireLists(db()))
      assert.deepEqual(await approvalIds(), open)
    }
    await run()
    for (const prefix of prefixes) assert.equal(passes(prefix, 123), false)
  })

  it('leaves a list alone whose prefix came back while it waited for the lock', async () => {
    const [back, ...gone] = prefixes
    await decide((await approvalIds())[0]!, 'approve')
    let upkeep: ReturnType<typeof expireLists> | undefined
    await whileLocked([back!], async () => {
      upkeep = expireLists(db())
      await waitForLock()
      await db().insertInto('prefixes').values({ team_id: team.teamId, prefix: back! }).execute()
    })
    assert.equal((await upkeep!).emptied, 3)
    await run()
    assert.equal(passes(back!, 123), false)
    for (const prefix of gone) assert.equal(passes(prefix, 123), true)
  })
})

async function waitForLock(): Promise<void> {
  await waitFor('a statement waits for a lock', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db(),
    )
    return rows.length > 0
  })
}

describe('a scrubber that fails', () => {
  /** Fails in the call, and otherwise works as the scrubber. */
  const failing = (method: 'list' | 'apply', isDone = false): Scrubber =>
    new Proxy(scrubber as Scrubber, {
      get(target, name) {
        const value = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== method) return value.bind(target)
        return async (...args: unknown[]) => {
          if (isDone) await value.apply(target, args)
          throw new DriverError('unreachable', 'edge: no answer')
        }
      },
    })

  it('keeps what it has, and its lists say so', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(53)])
    await run()
    await put(prefix, [deny(53), deny(123)])
    await assert.rejects(run({}, { scrubber: failing('list') }), DriverError)
    assert.deepEqual([passes(prefix, 53), passes(prefix, 123)], [false, true])
    const list = await listOf(prefix)
    assert.deepEqual([list.status, list.status_reason.code], ['pending', 'scrubber_unreachable'])
    await run()
    assert.equal(passes(prefix, 123), false)
    assert.equal((await listOf(prefix)).status, 'active')
  })

  it('may have lost its rules if they end with its daemon, and its rules are not active then', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(53)])
    await run()
    const can = { ...scrubber.can, keepsRules: false }
    const daemon = new Proxy(failing('list'), {
      get: (target, name) => (name === 'can' ? can : Reflect.get(target, name, target)),
    })
    await assert.rejects(run({}, { scrubber: daemon }), DriverError)
    const list = await listOf(prefix)
    assert.deepEqual([list.status, list.status_reason.code], ['pending', 'rules_may_be_lost'])
    assert.deepEqual(
      (await rulesOf(prefix)).map(({ status }) => status),
      ['pending'],
    )
    await run()
    assert.equal((await listOf(prefix)).status, 'active')
  })

  it('gets the list without a session to a router, and its lists say that nothing enforces them', async () => {
    const prefix = await newPrefix()
    await put(prefix, [deny(53)])
    const identity = { name: 'GoBGP', version: '3.x', neighbors: { established: 0, configured: 2 } }
    const probe = async () => identity
    const alone = new Proxy(scrubber as Scrubber, {
      get(target, name) {
        const value = name === 'probe' ? probe : Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    await assert.rejects(run({}, { scrubber: alone }), /none of 2 routers has a session/)
    assert.equal(passes(prefix, 53), false)
    const list = await listOf(prefix)
    assert.deepEqual([list.status, list.status_reason.code], ['pending', 'scrubber_unreachable'])
    identity.neighbors.established = 1
    await run({}, { scrubber: alone })
    assert.equal((await listOf(prefix)).status, 'active')
  })

  it('has the list after the next run, whether the interrupted call had an effect or not', async () => {
    for (const isDone of [false, true]) {
      const prefix = await newPrefix()
      await put(prefix, [deny(123)])
      await assert.rejects(run({}, { scrubber: failing('apply', isDone) }), DriverError)
      await run()
      assert.equal(passes(prefix, 123), false)
      assert.equal((await listOf(prefix)).status, 'active')
    }
  })

  it('refuses a list, which stops no other one', async () => {
    const prefixes = [await newPrefix(), await newPrefix(), await newPrefix(), await newPrefix()]
    const [cleared, bad, kept, late] = prefixes as [string, string, string, string]
    await put(cleared, [deny(53)])
    await put(kept, [deny(53), deny(123, { expires: new Date(Date.now() + 3_600_000).toISOString() })])
    await put(bad, [deny(19)])
    await run()
    await put(cleared, [])
    await put(bad, [deny(20)])
    await put(late, [deny(53)])
    await expire(kept)
    const refusing: Scrubber = new Proxy(scrubber as Scrubber, {
      get(target, name) {
        const value = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== 'apply') return value.bind(target)
        return async (lists: readonly { readonly prefix: string }[]) => {
          if (lists.some(({ prefix }) => prefix === bad))
            throw new DriverError('refused', 'edge: no such rule')
          return value.call(target, lists)
        }
      },
    })
    const { applied, removed, refused } = await run({}, { scrubber: refusing })
    assert.deepEqual([applied, removed, [...refused.keys()]], [2, 1, [bad]])
    assert.deepEqual(
      [passes(cleared, 53), passes(bad, 19), passes(bad, 20), passes(kept, 123), passes(late, 53)],
      [true, false, true, true, false],
    )
    assert.deepEqual(await Promise.all(prefixes.map(async (prefix) => (await listOf(prefix)).status)), [
      'active',
      'error',
      'active',
      'active',
    ])
    assert.equal((await listOf(bad)).status_reason.code, 'scrubber_refused')
    await run()
    assert.deepEqual([passes(bad, 20), (await listOf(bad)).status], [false, 'active'])
  })

  it('does not keep the others from the list', async () => {
    const prefix = await newPrefix()
    await db()
      .insertInto('scrubbers')
      .values({ name: 'second', driver: JSON.stringify({ kind: 'sandbox' }) })
      .execute()
    const second = new SandboxScrubber({ name: 'second', rulesMax: 10_000, latencyMs: 0 })
    await put(prefix, [deny(123)])
    await assert.rejects(run({}, { scrubber: failing('list') }), DriverError)
    await run({}, { name: 'second', scrubber: second })
    assert.ok((await second.list()).some((list) => list.prefix === prefix))
    assert.equal((await listOf(prefix)).status_reason.code, 'scrubber_unreachable')
    await run()
    assert.equal((await listOf(prefix)).status, 'active')
    await sql`delete from scrubbers where name = 'second'`.execute(db())
  })
})

describe('hits', () => {
  it('add up over scrubbers and never fall when a counter begins again', async () => {
    const prefix = await newPrefix()
    const { results } = await put(prefix, [deny(123)])
    const { id } = results[0]
    const count = async (name: string, packets: number): Promise<unknown> => {
      await saveHits(db(), name, new Map([[id, { packets, bytes: packets * 100 }]]))
      const [rule] = await rulesOf(prefix)
      return rule.hits.packets
    }
    assert.equal((await rulesOf(prefix))[0].hits, null)
    assert.equal(await count('edge', 5), 5)
    assert.equal(await count('edge', 8), 8)
    assert.equal(await count('other', 2), 10)
    assert.equal(await count('edge', 1), 11, 'the counter of the scrubber began again')
    assert.equal(await count('edge', 3), 13)
  })

  it('are returned as what was counted since the reading before', async () => {
    const prefix = await newPrefix()
    const { results } = await put(prefix, [deny(123)])
    const { id } = results[0]
    const since = (packets: number, bytes: number) =>
      saveHits(db(), 'edge', new Map([[id, { packets, bytes }]]))
    assert.deepEqual(await since(0, 0), [])
    assert.deepEqual(await since(5, 500), [{ id, packets: 5, bytes: 500 }])
    assert.deepEqual(await since(5, 500), [])
    assert.deepEqual(await since(8, 900), [{ id, packets: 3, bytes: 400 }])
    assert.deepEqual(await since(2, 100), [{ id, packets: 2, bytes: 100 }], 'the counter began again')
  })

  it('are handed on with the rule and its team by the loop', async () => {
    const prefix = await newPrefix()
    const { results } = await put(prefix, [{ ...deny(123), destination: hostOf(prefix, 9) }])
    const { id } = results[0]
    await run()
    const counting: Scrubber = {
      can: { ...scrubber.can, hits: true },
      probe: () => scrubber.probe(),
      list: () => scrubber.list(),
      apply: (lists) => scrubber.apply(lists),
      remove: (prefixes) => scrubber.remove(prefixes),
      hits: async () =>
        new Map([
          [id, { packets: 4, bytes: 400 }],
          [999_999_999, { packets: 1, bytes: 1 }],
        ]),
      watch: () => () => {},
      close: async () => {},
    }
    const recorded: RuleCount[] = []
    await run({ recordHits: async (counted) => void recorded.push(...counted) }, { scrubber: counting })
    assert.deepEqual(
      recorded.map(({ teamId, rule, packets, bytes }) => [
        teamId,
        rule.id,
        rule.match.destination,
        rule.action.kind,
        packets,
        bytes,
      ]),
      [[team.teamId, id, `${hostOf(prefix, 9)}/32`, 'deny', 4, 400]],
    )
  })
})
