// Rule lists over HTTP: versions, ids of unchanged rules, confirmation, every bad rule at its place, and other teams.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import type { FlowStore } from '../src/flow/flow-store.ts'
import { updateShieldRules, type UpdateDeps } from '../src/shield/update-shield.ts'
import { DriverError } from '../src/runtime/driver-error.ts'
import type { Operation } from '../src/operation/operation.ts'
import type { Failure } from '../src/runtime/error.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import type { Answered } from './support/dns.ts'

/** Without a store the traffic that a list would drop is unknown. */
const refuse = async (): Promise<never> => {
  throw new DriverError('unreachable', 'no store in this test')
}
const noFlowStore: FlowStore = {
  probe: refuse,
  insert: refuse,
  query: refuse,
  command: refuse,
  close: async () => {},
}

let api: TestApi
let team: TestTeam
let other: TestTeam
let access = ''
let networks = 0

before(async () => {
  api = await createTestApi({ PHAROS_LOG_LEVEL: 'error' }, { flowStore: noFlowStore })
  team = await addTeam(api, 'red')
  other = await addTeam(api, 'blue')
  const { email } = await addUser(api, 'admin', [team], { admin: true })
  access = (await api.signIn(email)).access
})
after(() => api[Symbol.asyncDispose]())

const db = () => api.database.postgres.owner

/** Returns a new prefix of the team. */
async function newPrefix({ teamId } = team): Promise<string> {
  const prefix = `198.18.${networks++}.0/24`
  await db().insertInto('prefixes').values({ team_id: teamId, prefix }).execute()
  return prefix
}

type Call = { readonly body?: unknown; readonly headers?: Record<string, string> }
async function call(method: 'GET' | 'PUT' | 'POST', path: string, { body, headers = {} }: Call = {}) {
  const answer = await api.server.inject({
    method,
    url: `/v3/lighthouse/security/shield${path}`,
    headers: { authorization: `Bearer ${access}`, ...headers },
    ...(body === undefined ? {} : { payload: body as object }),
  })
  return {
    status: answer.statusCode,
    etag: String(answer.headers.etag),
    body: answer.body === '' ? null : (answer.json() as Answered),
  }
}
const put = (body: object, headers?: Record<string, string>, query = '') =>
  call('PUT', `/rules${query}`, { body: { force: true, ...body }, ...(headers ? { headers } : {}) })
const get = (query: string) => call('GET', `/rules?${query}`)

const deny = (port: number, rest: object = {}) => ({
  action: 'deny',
  protocol: 'udp',
  source_port: String(port),
  ...rest,
})
const allow = (port: number) => ({ action: 'allow', protocol: 'tcp', destination_port: String(port) })
const idsOf = ({ body }: Answered): number[] => body.results.map(({ id }: Answered) => id)

/** The same rules, written in two ways. */
const spelled = [
  [
    { action: 'deny', protocol: '17', source_port: '123,53', source: '0.0.0.0/0' },
    { action: 'deny', protocol: 'tcp', tcp_flags: 'syn,!ack', packet_length: '0-65535' },
  ],
  [
    { action: 'deny', protocol: 'udp', source_port: '53,123', source: null },
    { action: 'deny', protocol: '6', tcp_flags: '!ack,syn', packet_length: null },
  ],
] as const

describe('the rule list of a prefix', () => {
  it('is replaced as a whole, and unchanged rules keep their ids', async () => {
    const prefix = await newPrefix()
    const first = await put({ prefix, rules: [deny(53), deny(123), allow(443)] })
    assert.equal(first.status, 200)
    assert.deepEqual(
      [first.body.version, first.body.count, first.body.confirm_by, first.etag],
      [1, 3, null, '"1"'],
    )
    assert.deepEqual(
      first.body.results.map(({ sequence, status, prefix: of }: Answered) => [sequence, status, of]),
      [
        [10, 'pending', prefix],
        [20, 'pending', prefix],
        [30, 'pending', prefix],
      ],
    )
    const [dns, ntp, https] = idsOf(first)
    const second = await put({ prefix, rules: [allow(443), deny(19), deny(53, { comment: 'dns' })] })
    assert.equal(second.body.version, 2)
    assert.deepEqual([idsOf(second)[0], idsOf(second)[2]], [https, dns])
    assert.ok(!idsOf(second).includes(ntp!))
    const read = await get(`prefix=${prefix}`)
    assert.deepEqual(read.body, { results: second.body.results, count: 3 })
  })

  it('is not changed by the same rules', async () => {
    const prefix = await newPrefix()
    const rules = [deny(53), allow(80)]
    await put({ prefix, rules })
    const again = await put({ prefix, rules })
    assert.deepEqual([again.status, again.body.version], [200, 1])
    const { rows } = await sql`select from audit_entries where target = ${`shield:${prefix}`}`.execute(db())
    assert.equal(rows.length, 1)
  })

  it('has its conditions as they were sent last, with the same ids, and once', async () => {
    const prefix = await newPrefix()
    const first = await put({ prefix, rules: spelled[0] })
    const second = await put({ prefix, rules: spelled[1], force: false, version: 1 })
    assert.deepEqual([second.status, second.body.version], [200, 2], 'nothing new would be dropped')
    assert.deepEqual(idsOf(second), idsOf(first))
    assert.deepEqual((await get(`prefix=${prefix}`)).body.results, second.body.results)
    for (const [at, sent] of spelled[1].entries())
      assert.deepEqual({ ...second.body.results[at], ...sent }, second.body.results[at])
    const again = await put({ prefix, rules: spelled[1] })
    assert.deepEqual([again.body.version, again.body.results], [2, second.body.results])
    const { rows } = await sql<{ ports: string }>`
      select v.rules -> 0 -> 'match' ->> 'source_port' as ports
      from shield_versions v join shield_lists l on l.id = v.list_id where l.prefix = ${prefix}::cidr order by v.version`.execute(
      db(),
    )
    assert.deepEqual(rows, [{ ports: '123,53' }, { ports: '53,123' }])
  })

  it('is empty after a PUT without rules, and keeps its earlier versions', async () => {
    const prefix = await newPrefix()
    await put({ prefix, rules: [deny(53)] })
    const cleared = await put({ prefix, rules: [] })
    assert.deepEqual([cleared.body.version, cleared.body.count], [2, 0])
    const { rows } = await sql<{ version: number; count: number }>`
      select v.version, jsonb_array_length(v.rules) as count from shield_versions v join shield_lists l on l.id = v.list_id
      where l.prefix = ${prefix}::cidr order by v.version`.execute(db())
    assert.deepEqual(rows, [
      { version: 1, count: 1 },
      { version: 2, count: 0 },
    ])
  })

  it('is replaced only if its version is the expected one', async () => {
    const prefix = await newPrefix()
    const rules = [deny(53)]
    assert.equal((await get(`prefix=${prefix}`)).etag.split('.')[0], '"0')
    assert.equal((await put({ prefix, rules, version: 1 })).status, 412)
    assert.equal((await put({ prefix, rules, version: 0 })).status, 200)
    const { etag } = await get(`prefix=${prefix}`)
    assert.equal((await put({ prefix, rules: [deny(19)] }, { 'if-match': etag })).body.version, 2)
    const late = await put({ prefix, rules: [deny(123)] }, { 'if-match': etag })
    assert.deepEqual([late.status, late.body.code], [412, 'precondition_failed'])
  })

  it('takes one of two PUTs at once that expect the same version', async () => {
    const prefix = await newPrefix()
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => put({ prefix, rules: [deny(1000 + at)], version: 0 })),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, 412, 412, 412, 412, 412])
    assert.equal((await get(`prefix=${prefix}`)).body.count, 1)
  })

  it('shows a plan with the estimate and stores nothing with a dry run', async () => {
    const prefix = await newPrefix()
    const plan = await put({ prefix, rules: [deny(53)] }, {}, '?dry_run=true')
    assert.deepEqual([plan.status, plan.body.result.version], [200, 1])
    assert.equal(plan.body.result.what_if.state, 'unavailable')
    assert.equal((await get(`prefix=${prefix}`)).body.count, 0)
  })
})

describe('a list with a confirmation', () => {
  it('is kept by a PUT of the same rules without confirm_within, as the same version', async () => {
    const prefix = await newPrefix()
    await put({ prefix, rules: [allow(80)] })
    const rules = [deny(53), allow(80)]
    const timed = await put({ prefix, rules, confirm_within: 600 })
    assert.deepEqual([timed.body.version, timed.body.confirm_by !== null], [2, true])
    const repeated = await put({ prefix, rules, confirm_within: 600 })
    assert.deepEqual(repeated.body.confirm_by, timed.body.confirm_by, 'a repeat is no confirmation')
    const lists = await call('GET', `/lists?prefix=${prefix}`)
    assert.equal(lists.body.results[0].previous_version, 1)
    const kept = await put({ prefix, rules, version: 2 })
    assert.deepEqual([kept.body.version, kept.body.confirm_by], [2, null])
  })

  it('is confirmed, and its time goes on, whatever way the same rules are written in', async () => {
    const prefix = await newPrefix()
    await put({ prefix, rules: [allow(80)] })
    const timed = await put({ prefix, rules: spelled[0], confirm_within: 600 })
    const repeated = await put({ prefix, rules: spelled[1], confirm_within: 60, force: false })
    assert.deepEqual([repeated.status, repeated.body.confirm_by], [200, timed.body.confirm_by])
    const list = await listOf(prefix)
    assert.equal(list.previous_version, 1)
    const kept = await put({ prefix, rules: spelled[0], force: false })
    assert.deepEqual([kept.status, kept.body.confirm_by, idsOf(kept)], [200, null, idsOf(timed)])
    assert.equal(kept.body.results[0].protocol, '17')
    assert.equal((await revert(list.id)).status, 409)
    const { rows } = await sql<{ action: string }>`
      select action from audit_entries where target = ${`shield:${prefix}`} order by id`.execute(db())
    assert.deepEqual(
      rows.map(({ action }) => action.split('.')[1]),
      ['update', 'update', 'update', 'confirm', 'update'],
    )
  })

  it('restores the last confirmed version, not the unconfirmed one between', async () => {
    const prefix = await newPrefix()
    await put({ prefix, rules: [allow(80)] })
    await put({ prefix, rules: [deny(53)], confirm_within: 600 })
    await put({ prefix, rules: [deny(123)], confirm_within: 600 })
    const lists = await call('GET', `/lists?prefix=${prefix}`)
    assert.equal(lists.body.results[0].previous_version, 1)
  })
})

const revert = (id: number, body: object = {}, headers?: Record<string, string>, query = '') =>
  call('POST', `/lists/${id}/revert${query}`, { body, ...(headers ? { headers } : {}) })
const listOf = async (prefix: string): Promise<Answered> =>
  (await call('GET', `/lists?prefix=${prefix}`)).body.results[0]

describe('a list that waits for a confirmation', () => {
  it('is reverted by request, with the ids of the rules before, as a new version', async () => {
    const prefix = await newPrefix()
    const first = await put({ prefix, rules: [allow(80), deny(19)] })
    const timed = await put({ prefix, rules: [deny(53)], confirm_within: 600 })
    const { id } = await listOf(prefix)
    const plan = await revert(id, { version: 2 }, {}, '?dry_run=true')
    assert.deepEqual([plan.status, plan.body.result.version, (await listOf(prefix)).version], [200, 3, 2])
    const answer = await revert(id, { version: 2 }, { 'if-match': timed.etag })
    assert.deepEqual(
      [answer.status, answer.body.version, answer.body.confirm_by, answer.etag],
      [200, 3, null, '"3"'],
    )
    const bornOf = ({ body }: Answered) => body.results.map(({ id, created }: Answered) => [id, created])
    assert.deepEqual(bornOf(answer), bornOf(first))
    assert.deepEqual((await get(`prefix=${prefix}`)).body.results, answer.body.results)
    const { rows } = await sql<{ actor: string; cause: string }>`
      select e.actor, v.cause from audit_entries e, shield_versions v join shield_lists l on l.id = v.list_id
      where e.action = 'shield.revert' and e.target = ${`shield:${prefix}`} and l.prefix = ${prefix}::cidr and v.version = 3`.execute(
      db(),
    )
    assert.deepEqual([rows.length, rows[0]!.cause, rows[0]!.actor.startsWith('user:')], [1, 'revert', true])
  })

  it('is reverted once, only if it is the version that was named, and not after it was confirmed', async () => {
    const prefix = await newPrefix()
    await put({ prefix, rules: [allow(80)] })
    await put({ prefix, rules: [deny(53)], confirm_within: 600 })
    const { id } = await listOf(prefix)
    assert.equal((await revert(id, { version: 1 })).status, 412)
    assert.equal((await revert(id, {}, { 'if-match': '"1"' })).status, 412)
    const answers = await Promise.all(Array.from({ length: 4 }, () => revert(id)))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409])
    assert.equal((await listOf(prefix)).version, 3)
    await put({ prefix, rules: [deny(19)], confirm_within: 600 })
    await put({ prefix, rules: [deny(19)] })
    const confirmed = await revert(id)
    assert.deepEqual([confirmed.status, confirmed.body.code], [409, 'conflict'])
  })

  it('is not reverted for a prefix that the team has lost: another team may have rules for it', async () => {
    const prefix = await newPrefix()
    await put({ prefix, rules: [deny(53)] })
    await put({ prefix, rules: [], confirm_within: 600 })
    await sql`update prefixes set team_id = ${other.teamId} where prefix = ${prefix}::cidr`.execute(db())
    const { status, body } = await revert((await listOf(prefix)).id)
    assert.deepEqual([status, body.code], [409, 'conflict'])
    assert.equal((await get(`prefix=${prefix}`)).body.count, 0)
  })

  it('is reverted by another session of the team, and by no other team', async () => {
    const prefix = await newPrefix()
    await put({ prefix, rules: [deny(53)], confirm_within: 600 })
    const { id } = await listOf(prefix)
    const own = access
    access = (await api.signIn((await addUser(api, 'stranger', [other], { admin: true })).email)).access
    assert.equal((await revert(id)).status, 404)
    access = (await api.signIn((await addUser(api, 'colleague', [team], { admin: true })).email)).access
    const { status, body } = await revert(id)
    assert.deepEqual([status, body.results], [200, []])
    access = own
  })
})

describe('a request for a list', () => {
  it('reports every bad rule at its place', async () => {
    const prefix = await newPrefix()
    const rules = [
      deny(53),
      { action: 'deny', protocol: 'icmp', source_port: '53' },
      { action: 'rate_limit', protocol: 'udp' },
      { action: 'deny', destination: '198.18.255.1' },
      { action: 'allow', source: '2001:db8::/32', rate_bps: 1000 },
    ]
    const { status, body } = await put({ prefix, rules })
    assert.deepEqual([status, body.code], [422, 'invalid'])
    assert.deepEqual(
      body.errors.map(({ loc }: Answered) => loc),
      [
        ['body', 'rules', 1, 'source_port'],
        ['body', 'rules', 2, 'rate_bps'],
        ['body', 'rules', 3, 'destination'],
        ['body', 'rules', 4, 'source'],
        ['body', 'rules', 4, 'rate_bps'],
      ],
    )
  })

  it('to estimate its effect needs a window that ends after its start, also if the end is now', async () => {
    const body = { prefix: await newPrefix(), rules: [deny(53)], start: '9999-01-01T00:00:00Z' }
    for (const window of [{}, { end: '9998-01-01T00:00:00Z' }]) {
      const { status, body: problem } = await call('POST', '/simulate', { body: { ...body, ...window } })
      assert.deepEqual([status, problem.errors[0].loc], [422, ['body', 'end']])
    }
  })

  it('needs rising sequences, of all rules or of none', async () => {
    const prefix = await newPrefix()
    const sequences = [5, 3, undefined]
    const rules = sequences.map((sequence, at) => ({ ...deny(at + 1), ...(sequence ? { sequence } : {}) }))
    const { body } = await put({ prefix, rules })
    assert.deepEqual(
      body.errors.map(({ loc }: Answered) => loc.slice(2)),
      [
        [1, 'sequence'],
        [2, 'sequence'],
      ],
    )
  })

  it('warns about rules that never match, and rejects them if strict', async () => {
    const prefix = await newPrefix()
    const rules = [
      deny(53),
      deny(53, { destination: prefix.replace('.0/24', '.7') }),
      { ...deny(53), action: 'allow' },
      deny(53),
      { action: 'deny' },
    ]
    const { status, body } = await put({ prefix, rules })
    assert.equal(status, 200)
    assert.deepEqual(
      body.warnings.map(({ code, loc, other }: Answered) => [code, loc[2], other]),
      [
        ['shadowed', 1, 0],
        ['contradicting', 2, 0],
        ['duplicate', 3, 0],
        ['whole_prefix', 4, null],
        ['no_scrubber', undefined, null],
        ['what_if_unavailable', undefined, null],
      ],
    )
    const strict = await put({ prefix, rules: [...rules, deny(19)], strict: true })
    assert.deepEqual([strict.status, strict.body.errors.length], [422, 6])
  })

  it('is refused for a prefix that another team holds, in whole or in part', async () => {
    const rules = [deny(53)]
    const foreign = await put({ prefix: await newPrefix(other), rules })
    const nobodys = await put({ prefix: '192.88.99.0/24', rules })
    assert.deepEqual([foreign.status, foreign.body.errors], [422, nobodys.body.errors])
    const whole = '198.19.0.0/22'
    await db().insertInto('prefixes').values({ team_id: team.teamId, prefix: whole }).execute()
    assert.equal((await put({ prefix: '198.19.0.0/24', rules })).status, 200)
    await db().insertInto('prefixes').values({ team_id: other.teamId, prefix: '198.19.1.0/24' }).execute()
    assert.equal((await put({ prefix: whole, rules })).status, 422)
    assert.equal((await put({ prefix: '198.19.1.128/25', rules })).status, 422)
    assert.equal((await put({ prefix: '198.19.2.0/24', rules })).status, 200)
  })

  it('is refused if routers with FlowSpec cannot apply it together with a list around it or inside it', async () => {
    const whole = await newPrefix()
    const part = whole.replace('.0/24', '.0/28')
    const destination = whole.replace('.0/24', '.9')
    const driver = JSON.stringify({ kind: 'flowspec', address: '127.0.0.1:1', owner: '64500:7:1' })
    await db()
      .insertInto('scrubbers')
      .values({ name: 'nested', driver, prefixes: [whole] })
      .execute()
    const ends = { protocol: 'udp', source: '198.51.100.1', destination }
    const inner = [allow(443), { ...ends, action: 'allow', destination_port: '1000-2000' }]
    const outer = [{ ...ends, action: 'deny', destination_port: '80-1500' }]
    const refusal = ({ status, body }: Awaited<ReturnType<typeof put>>) => [
      status,
      body.errors.map(({ loc, type, ctx }: Answered) => [loc, type, ctx.prefix]),
    ]
    assert.equal((await put({ prefix: part, rules: inner })).status, 200)
    const around = await put({ prefix: whole, rules: outer })
    assert.deepEqual(refusal(around), [422, [[['body', 'rules', 0], 'cannot_order_lists', part]]])
    assert.equal((await put({ prefix: part, rules: [allow(443)] })).status, 200)
    assert.equal((await put({ prefix: whole, rules: outer })).status, 200)
    const inside = await put({ prefix: part, rules: inner })
    assert.deepEqual(refusal(inside), [422, [[['body', 'rules', 1], 'cannot_order_lists', whole]]])
    assert.equal((await put({ prefix: part, rules: [] })).status, 200)
  })

  it('is refused with both rules if routers with FlowSpec cannot evaluate them in order', async () => {
    const prefix = await newPrefix()
    const ends = {
      protocol: 'udp',
      source: '198.51.100.1',
      destination: prefix.replace('.0/24', '.9'),
    }
    const rules = [
      allow(443),
      { ...ends, action: 'allow', destination_port: '1000-2000' },
      { ...ends, action: 'deny', destination_port: '80-1500' },
      { action: 'rate_limit', protocol: 'udp', rate_pps: 100, enabled: false },
    ]
    assert.equal((await put({ prefix, rules }, {}, '?dry_run=true')).status, 200)
    const driver = JSON.stringify({ kind: 'flowspec', address: '127.0.0.1:1', owner: '64500:7:1' })
    await db()
      .insertInto('scrubbers')
      .values({ name: 'routers', driver, prefixes: [prefix] })
      .execute()
    const refused = await put({ prefix, rules })
    assert.deepEqual(
      [refused.status, refused.body.errors.map(({ loc, type, ctx }: Answered) => [loc, type, ctx.other])],
      [422, [[['body', 'rules', 1], 'cannot_order', 2]]],
    )
    assert.match(refused.body.errors[0].msg, /rules\[2\]/)
    const elsewhere = (await newPrefix()).replace('.0/24', '.0/25')
    const same = rules.map((rule) =>
      'destination' in rule ? { ...rule, destination: elsewhere.replace('.0/25', '.9') } : rule,
    )
    const stored = await put({ prefix: elsewhere, rules: same })
    assert.equal(stored.status, 200, 'not a prefix of the routers')
    assert.ok(stored.body.warnings.some(({ code }: Answered) => code === 'no_scrubber'))
    const limits = await put({
      prefix,
      rules: [allow(443), { action: 'rate_limit', protocol: 'udp', rate_pps: 100 }],
    })
    const [error] = limits.body.errors
    assert.deepEqual(
      [limits.status, error.loc, error.type, error.ctx.code],
      [422, ['body', 'rules', 1, 'rate_pps'], 'unsupported', 'unsupported'],
    )
    assert.match(error.msg, /scrubber routers .* cannot limit packets per second\.$/)
    await sql`delete from scrubbers`.execute(db())
  })

  it('is refused with the greatest rate that the scrubbers of its prefix accept', async () => {
    const prefix = await newPrefix()
    await db()
      .insertInto('scrubbers')
      .values({ name: 'hosts', driver: JSON.stringify({ kind: 'nftables' }), prefixes: [prefix] })
      .execute()
    const limit = (rate: object) => ({ action: 'rate_limit', protocol: 'udp', ...rate })
    const bits = await put({ prefix, rules: [deny(53), limit({ rate_bps: 147_000_000_001 })] })
    const packets = await put({ prefix, rules: [limit({ rate_pps: 100_000_001 })] })
    assert.deepEqual(
      [bits, packets].map(({ status, body }) => [
        status,
        body.errors.map(({ loc, type, ctx }: Answered) => [loc, type, ctx.max, ctx.code]),
      ]),
      [
        [422, [[['body', 'rules', 1, 'rate_bps'], 'range', 147_000_000_000, 'rate_too_high']]],
        [422, [[['body', 'rules', 0, 'rate_pps'], 'range', 100_000_000, 'rate_too_high']]],
      ],
    )
    const greatest = [limit({ rate_bps: 147_000_000_000 }), limit({ rate_pps: 100_000_000 })]
    assert.equal((await put({ prefix, rules: greatest })).status, 200)
    await sql`delete from scrubbers`.execute(db())
  })

  it('names no address that the provider needs for its own sessions, unless it lets it pass', async () => {
    const prefix = await newPrefix()
    await sql`insert into dns_servers (name, address) values ('ns9.example.net.', '192.0.2.53')`.execute(db())
    const rules = [
      deny(53, { source: '192.0.2.0/24' }),
      deny(53, { source: '198.51.100.0/24' }),
      { ...deny(53, { source: '192.0.2.53' }), action: 'allow' },
      deny(123),
    ]
    const { status, body } = await put({ prefix, rules })
    await sql`delete from dns_servers where name = 'ns9.example.net.'`.execute(db())
    assert.deepEqual(
      [status, body.errors.map(({ loc, type }: { loc: unknown[]; type: string }) => [loc, type])],
      [422, [[['body', 'rules', 0, 'source'], 'safelisted']]],
    )
    assert.equal((await put({ prefix, rules })).status, 200)
  })

  it('names the place of a rule that a scrubber cannot apply, also if another one ends meanwhile', async () => {
    const prefix = await newPrefix()
    const endMs = Date.now() + 300_000
    const times = [endMs - 1, endMs + 1]
    const deps: UpdateDeps = {
      postgres: api.database.postgres,
      estimate: async () => ({ state: 'unavailable' }) as never,
      dropPercentMax: 5,
      checkScrubbers: async () => ({
        scrubbers: 1,
        refusals: [{ index: 1, reason: 'unsupported', detail: 'cannot', scrubber: 'edge' }],
      }),
      safelist: [],
      now: () => new Date(times.shift() ?? endMs + 1),
    }
    const operation = { actor: { kind: 'user', teamId: team.teamId }, ifMatch: null } as unknown as Operation
    const rules = [deny(53, { expires: new Date(endMs).toISOString() }), deny(123)] as never
    await assert.rejects(
      updateShieldRules(deps, operation, { prefix, rules, force: true }),
      (error: Failure) => error.errors?.[0]?.loc.join('.') === 'body.rules.1',
    )
  })

  it('is refused if the scrubber has no room beside the lists of all teams, of which it tells nothing', async () => {
    const [theirs, ours] = [await newPrefix(other), await newPrefix()]
    await db()
      .insertInto('scrubbers')
      .values({
        name: 'small',
        driver: JSON.stringify({ kind: 'sandbox' }),
        prefixes: [theirs, ours],
        rules_max: 5,
      })
      .execute()
    await sql`
      with list as (insert into shield_lists (team_id, prefix) values (${other.teamId}, ${theirs}::cidr) returning id)
      insert into shield_installs (list_id, team_id, scrubber, version, state, rule_count)
      select id, ${other.teamId}, 'small', 0, 'active', 3 from list`.execute(db())
    const refused = await put({ prefix: ours, rules: [deny(1), deny(2), deny(3)] })
    assert.deepEqual(
      [refused.status, refused.body.errors.map(({ loc, ctx }: Answered) => [loc, ctx.code])],
      [422, [[['body', 'rules'], 'too_many_rules']]],
    )
    assert.match(refused.body.errors[0].msg, /at most 5 rules of all lists together/)
    assert.ok(!JSON.stringify(refused.body).includes(theirs))
    assert.equal((await put({ prefix: ours, rules: [deny(1), deny(2)] })).status, 200)
    assert.equal(
      (await put({ prefix: ours, rules: [deny(3), deny(4)] })).status,
      200,
      'in place of the others',
    )
    assert.equal((await put({ prefix: ours, rules: [deny(3)], confirm_within: 600 })).status, 200)
    const inside = await put({ prefix: ours.replace('/24', '/25'), rules: [deny(5)] })
    assert.equal(inside.body.errors?.[0].ctx.code, 'too_many_rules', 'both rules may come back')
    await sql`delete from scrubbers`.execute(db())
  })

  it('needs force while it is unknown what the rules would drop', async () => {
    const prefix = await newPrefix()
    const refused = await put({ prefix, rules: [deny(53)], force: false })
    assert.deepEqual([refused.status, refused.body.code], [409, 'would_drop'])
    assert.equal((await put({ prefix, rules: [allow(53)], force: false })).status, 200)
    const forced = await put({ prefix, rules: [deny(53)] })
    assert.equal(forced.status, 200)
    const confirmed = await put({ prefix, rules: [deny(53)], force: false })
    assert.equal(confirmed.status, 200, 'nothing new would be dropped')
  })

  it('has at most 100 rules, and the team 1000', async () => {
    const large = await addTeam(api, 'large')
    const { email } = await addUser(api, 'admin', [large], { admin: true })
    const previous = access
    access = (await api.signIn(email)).access
    const rules = Array.from({ length: 101 }, (_, at) => allow(at + 1))
    const full = rules.slice(0, 100)
    assert.equal((await put({ prefix: await newPrefix(large), rules })).status, 422)
    for (let list = 0; list < 10; list++)
      assert.equal((await put({ prefix: await newPrefix(large), rules: full })).status, 200)
    const further = await put({ prefix: await newPrefix(large), rules: [allow(1)] })
    assert.deepEqual([further.status, further.body.code], [403, 'quota_exceeded'])
    access = previous
  })
})
