// An ASN over HTTP, from the first question to the proof, with registries as an operator has them: an export of ROAs, a dump
// of a routing registry, a name server. What each method makes of a bad answer is tested beside it.
import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { AsnVerification, HeldAsn } from '@pharos/contract/inventory'
import { sql } from 'kysely'
import { startNameServer } from '../../lab/src/name-server.ts'
import { skipWithout } from '../../lab/src/program.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { asnProofsPart } from '../src/roles/asn-proofs.ts'
import { createRegistryViews } from '../src/roles/registry-views.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken } from './support/credentials.ts'

const zone = '113.0.203.in-addr.arpa'
const asns = { dns: 64500, autNum: 64501, roa: 64502, never: 64503, gone: 64509 }

let folder: string
let nameServer: Awaited<ReturnType<typeof startNameServer>>
let settings: Record<string, string>
let api: TestApi
let red: TestTeam
let blue: TestTeam
const bearers = new Map<TestTeam, string>()

/** As registries write their files: whole, and by another name first. */
async function put(name: string, text: string): Promise<void> {
  await writeFile(join(folder, `${name}.new`), text)
  await rename(join(folder, `${name}.new`), join(folder, name))
}

const skip = skipWithout('nsd')

before(async () => {
  if (skip) return
  folder = await mkdtemp(join(tmpdir(), 'pharos-asn-'))
  nameServer = await startNameServer()
  const roa = (prefix: string, asn: number) => ({ prefix, maxLength: 24, asn: `AS${asn}`, ta: 'test' })
  const roas = [roa('203.0.113.0/24', asns.dns), roa('198.51.100.0/24', asns.roa)]
  await put('vrps.json', JSON.stringify({ roas }))
  await put('irr.rpsl', '')
  const file = (name: string) => pathToFileURL(join(folder, name)).href
  settings = {
    PHAROS_RPKI_SOURCES: file('vrps.json'),
    PHAROS_IRR_SOURCES: file('irr.rpsl'),
    PHAROS_DNS_RESOLVERS: nameServer.server,
  }
  api = await createTestApi(settings)
  red = await addTeam(api, 'red')
  blue = await addTeam(api, 'blue')
  for (const team of [red, blue]) {
    const { email } = await addUser(api, 'member', [team])
    bearers.set(team, `Bearer ${(await api.signIn(email)).access}`)
  }
})
after(async () => {
  if (skip) return
  await api[Symbol.asyncDispose]()
  await nameServer[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const get = (url: string, authorization: string, by: TestApi = api) =>
  by.server.inject({ method: 'GET', url, headers: { authorization } })

async function verify(team: TestTeam, asn: number, query = '', by?: TestApi): Promise<AsnVerification> {
  const response = await get(`/v3/inventory/asns/${asn}/verify${query}`, bearers.get(team)!, by)
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/**
 * By other processes of the installation, each of which has its own minute, until the method is valid: a process that has
 * just started may not have read the registries yet.
 */
function refreshElsewhere(team: TestTeam, asn: number, method: string): Promise<AsnVerification> {
  return waitFor(`${method} is valid`, async () => {
    await using other = await createTestApi(settings, { beside: api })
    const answer = await verify(team, asn, '?refresh=true', other)
    return methodOf(answer, method).state === 'valid' && answer
  })
}

const methodOf = ({ methods }: AsnVerification, name: string) =>
  methods.find(({ method }) => method === name)!

async function listed(team: TestTeam, query = ''): Promise<HeldAsn[]> {
  const response = await get(`/v3/inventory/asns${query}`, bearers.get(team)!)
  assert.equal(response.statusCode, 200, response.body)
  const { results, count } = response.json() as { results: HeldAsn[]; count: number }
  assert.equal(count, results.length)
  return results
}

const held = async (asn: number) =>
  api.database.postgres.owner
    .selectFrom('asns')
    .select(['verified', 'expires'])
    .where('team_id', '=', red.teamId)
    .where('asn', '=', asn)
    .executeTakeFirst()

describe('an ASN', { skip }, () => {
  it('is proven by following the instructions for DNS to the letter', async () => {
    // The ROAs are read in the background.
    const record = await waitFor('the record to create is told', async () => {
      const { instructions } = methodOf(await verify(red, asns.dns), 'dns_txt')
      return /^(_pharos-asn\.113\S+)\. 3600 IN TXT "(.+)"$/m.exec(instructions) ?? undefined
    })
    assert.equal(record[1], `_pharos-asn.${zone}`)
    assert.equal(methodOf(await verify(red, asns.dns, '?refresh=true'), 'dns_txt').state, 'missing')
    await nameServer.setRecords([{ name: record[1]!, text: record[2]! }])
    const answer = await refreshElsewhere(red, asns.dns, 'dns_txt')
    assert.equal(answer.verified_by, 'dns_txt')
    assert.deepEqual(await verify(red, asns.dns), answer)
    const [first] = await listed(red)
    assert.deepEqual(
      [first!.asn, first!.verified, first!.verified_by, first!.expires],
      [asns.dns, answer.verified, 'dns_txt', answer.expires],
    )
  })

  it('is proven by the token in the aut-num object, and then in conflict for another team', async () => {
    const [mine, theirs] = [await verify(red, asns.autNum), await verify(blue, asns.autNum)]
    const remark = ({ instructions }: { instructions: string }) => instructions.split('\n').at(-1)!
    const lines = [mine, theirs].map((one) => remark(methodOf(one, 'aut_num')))
    await put(
      'irr.rpsl',
      `aut-num:        AS${asns.autNum}\nas-name:        EXAMPLE-AS\n${lines.join('\n')}\nmnt-by:         EXAMPLE-MNT\nsource:         RIPE\n`,
    )
    const proven = await refreshElsewhere(red, asns.autNum, 'aut_num')
    assert.deepEqual(
      [proven.verified_by, proven.holder, proven.rir, proven.conflict],
      ['aut_num', 'EXAMPLE-AS', 'ripe', false],
    )
    const late = await refreshElsewhere(blue, asns.autNum, 'aut_num')
    assert.deepEqual([late.conflict, late.verified, late.verified_by, late.expires], [true, null, null, null])
    const text = JSON.stringify(late)
    for (const mark of ['Team red', methodOf(mine, 'aut_num').token!]) assert.ok(!text.includes(mark), mark)
    assert.deepEqual(await listed(blue), [])
  })

  it('is proven by a ROA of a prefix that the team holds', async () => {
    await api.database.postgres.owner
      .insertInto('prefixes')
      .values({ team_id: red.teamId, prefix: '198.51.100.0/24' })
      .execute()
    assert.match(
      methodOf(await verify(red, asns.roa), 'roa').instructions,
      /\(198\.51\.100\.0\/24, maxLength 24, AS64502\)/,
    )
    assert.equal((await verify(red, asns.roa, '?method=roa&refresh=true')).verified_by, 'roa')
    const audited = await sql<{ actor: string }>`select actor from audit_entries
      where action = 'asn.verify' and target = ${`asn:${asns.roa}`} and team_id = ${red.teamId}`.execute(
      api.database.postgres.owner,
    )
    assert.match(audited.rows[0]!.actor, /^user:\d+$/)
  })

  it('is looked at again by the loop, with what the process is configured with', async () => {
    const { owner } = api.database.postgres
    // What is there no more, by a registry that answers; and what is.
    await sql`insert into asns (team_id, asn, verified, verified_by, expires)
      values (${red.teamId}, ${asns.gone}, now() - interval '181 days', 'roa', now() - interval '1 day')`.execute(
      owner,
    )
    await sql`update asn_proofs set checked = checked - interval '2 days' where asn = ${asns.roa}`.execute(
      owner,
    )
    const before = await held(asns.roa)
    const [log, metrics] = [createLog(api.config), createMetrics()]
    const views = createRegistryViews(api.config, log, metrics)
    await views.rpki.start?.()
    await waitFor('the ROAs are read', () => views.rpki.current())
    const { config, waker } = api
    const part = asnProofsPart({ config, waker, log, metrics, ...views, postgres: api.database.postgres })
    await part.start?.()
    await waitFor('the end is written down', async () => (await held(asns.gone))?.verified === null)
    await waitFor('the other lasts on', async () => (await held(asns.roa))!.expires! > before!.expires!)
    await part.stop?.()
    await views.rpki.stop?.()
    await views.irr.stop?.()
  })

  it('is looked for once a minute, and the refusal says when again', async () => {
    const url = `/v3/inventory/asns/${asns.never}/verify?refresh=true&method=roa`
    const bearer = bearers.get(red)!
    assert.equal((await get(url, bearer)).statusCode, 200)
    const again = await get(url, bearer)
    assert.equal(again.statusCode, 429)
    assert.ok(Number(again.headers['retry-after']) > 50 && Number(again.headers['retry-after']) <= 60)
    assert.equal((await get(url, bearers.get(blue)!)).statusCode, 200)
  })

  it('is read by a token that may only read, and refreshed by one that may write', async () => {
    const token = async (...scopes: string[]) => `Token ${await addApiToken(api, blue.teamId, { scopes })}`
    const [reader, writer] = [await token('ipam:read'), await token('ipam:read', 'ipam:write')]
    const url = '/v3/inventory/asns/64504/verify'
    assert.equal((await get(url, reader)).statusCode, 200)
    const refused = await get(`${url}?refresh=true`, reader)
    assert.deepEqual([refused.statusCode, refused.json().code], [403, 'scope_missing'])
    assert.equal((await get(`${url}?refresh=true`, writer)).statusCode, 200)
  })

  it('is none where no network can hold it, or where it is for documentation outside of a lab', async () => {
    const bearer = bearers.get(red)!
    const refusal = async (asn: number | string, by?: TestApi) => {
      const { statusCode, body } = await get(`/v3/inventory/asns/${asn}/verify`, bearer, by)
      const { code, errors } = JSON.parse(body) as { code: string; errors?: { loc: string[] }[] }
      return [statusCode, code, errors?.[0]?.loc.join('.')]
    }
    for (const asn of [23456, 64512, 65535, 4200000000, 4294967295])
      assert.deepEqual(await refusal(asn), [422, 'reserved_asn', 'path.asn'])
    assert.deepEqual(await refusal(4294967296), [422, 'invalid', 'path.asn'])
    for (const asn of ['0', 'AS64500', '1.10', '-1']) assert.deepEqual((await refusal(asn))[0], 404)
    const real = { ...settings, PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'false' }
    await using production = await createTestApi(real, { beside: api })
    assert.deepEqual(await refusal(asns.dns, production), [422, 'reserved_asn', 'path.asn'])
  })
})

describe("the list of a team's ASNs", { skip }, () => {
  it('is of the team, filtered, ordered and paged', async () => {
    const green = await addTeam(api, 'green')
    const { email } = await addUser(api, 'member', [green])
    bearers.set(green, `Bearer ${(await api.signIn(email)).access}`)
    await sql`insert into asns (team_id, asn, name, verified, verified_by, expires) values
      (${green.teamId}, 64507, 'said', now(), null, null),
      (${green.teamId}, 64505, 'claimed', null, null, null),
      (${green.teamId}, 64506, 'proven', now(), 'roa', now() + interval '1 day'),
      (${green.teamId}, 64508, 'over', now(), 'roa', now() - interval '1 day')`.execute(
      api.database.postgres.owner,
    )
    const namesOf = async (query: string) => (await listed(green, query)).map(({ name }) => name)
    assert.deepEqual(await namesOf(''), ['claimed', 'proven', 'said', 'over'])
    assert.deepEqual(await namesOf('?ordering=-asn'), ['over', 'said', 'proven', 'claimed'])
    assert.deepEqual(await namesOf('?verified=true'), ['proven', 'said'])
    assert.deepEqual(await namesOf('?verified=false'), ['claimed', 'over'])
    assert.deepEqual(await namesOf('?asn=64505&asn=64507&asn=64500'), ['claimed', 'said'])
    const by = Object.fromEntries((await listed(green)).map((one) => [one.name, one.verified_by]))
    assert.deepEqual(by, { claimed: null, proven: 'roa', said: 'operator', over: null })
    const page = await get('/v3/inventory/asns?limit=1&offset=3', bearers.get(green)!)
    assert.deepEqual([page.json().results[0].name, page.json().count], ['over', 4])
    const past = await get('/v3/inventory/asns?offset=10', bearers.get(green)!)
    assert.deepEqual(past.json(), { results: [], count: 4 })
  })
})
