// ASN verification over HTTP, from the first request to the proof, with an export of ROAs, a dump of a routing registry and a name
// server. How each method handles invalid responses is tested beside it.
import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { AsnVerification, HeldAsn } from '@pharos/contract/inventory/asn'
import { sql } from 'kysely'
import { startNameServer } from '../../lab/src/name-server.ts'
import { skipWithout } from '../../lab/src/program.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { asnProofsPart } from '../src/inventory/parts.ts'
import { createRegistryViews } from '../src/registry/parts.ts'
import { seedAnnouncement, seedRegions } from '../src/byoip/announcement/testing.ts'
import { createLog } from '../src/runtime/log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { addTeam, addUser, createTestApi, type TestApi, type TestTeam } from './api.ts'
import { addApiToken } from './support/credentials.ts'

const zone = '113.0.203.in-addr.arpa'
const asns = {
  dns: 64500,
  autNum: 64501,
  roa: 64502,
  never: 64503,
  gone: 64509,
  race: 64510,
  lost: 64511,
  kept: 64505,
  taken: 64506,
  free: 64507,
}

let folder: string
let nameServer: Awaited<ReturnType<typeof startNameServer>>
let settings: Record<string, string>
let api: TestApi
let red: TestTeam
let blue: TestTeam
let staff: string
const bearers = new Map<TestTeam, string>()

/** Writes the file like registries do: complete, under a temporary name first. */
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
  const provider = await addUser(api, 'provider', [red], { staff: true })
  staff = `Bearer ${(await api.signIn(provider.email)).access}`
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
 * Refreshes on other processes of the installation until the method is valid: each process has its own limit per
 * minute, and a new process may not have read the registries yet.
 */
function refreshElsewhere(team: TestTeam, asn: number, method: string): Promise<AsnVerification> {
  return waitFor(`${method} is valid`, async () => {
    await using other = await createTestApi(settings, { sameInstallationAs: api })
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

const decide = (decision: 'verify' | 'revoke', asn: number, body: object, authorization = staff) =>
  api.server.inject({
    method: 'POST',
    url: `/v3/admin/asns/${asn}/${decision}`,
    headers: { authorization },
    payload: body,
  })

const actionsOf = async (team: TestTeam, asn: number): Promise<string[]> => {
  const { rows } = await sql<{ action: string }>`select action from audit_entries
    where team_id = ${team.teamId} and target = ${`asn:${asn}`} order by id`.execute(
    api.database.postgres.owner,
  )
  return rows.map(({ action }) => action)
}

/** Puts the token of each team into the aut-num object of the ASN. */
async function putAutNum(asn: number, ...teams: readonly TestTeam[]): Promise<void> {
  const answers = await Promise.all(teams.map((team) => verify(team, asn)))
  const remarks = answers.map((one) => methodOf(one, 'aut_num').instructions.split('\n').at(-1)!)
  await put(
    'irr.rpsl',
    ['aut-num:        AS' + asn, 'as-name:        EXAMPLE-AS', ...remarks, 'source:         RIPE', ''].join(
      '\n',
    ),
  )
}

describe('an ASN', { skip }, () => {
  it('is not proven by a record in the reverse zone of a prefix that it may originate', async () => {
    // The ROAs are read in the background.
    const record = await waitFor('the response contains the record to create', async () => {
      const { instructions } = methodOf(await verify(red, asns.dns), 'dns_txt')
      return /^(_pharos-asn\.113\S+)\. 3600 IN TXT "(.+)"$/m.exec(instructions) ?? undefined
    })
    assert.equal(record[1], `_pharos-asn.${zone}`)
    assert.equal(methodOf(await verify(red, asns.dns, '?refresh=true'), 'dns_txt').state, 'missing')
    await nameServer.setRecords([{ name: record[1]!, text: record[2]! }])
    const answer = await refreshElsewhere(red, asns.dns, 'dns_txt')
    assert.deepEqual([answer.verified, answer.verified_by], [null, null])
    assert.deepEqual(
      [methodOf(answer, 'dns_txt').proves, methodOf(answer, 'aut_num').proves],
      ['address_space', 'asn'],
    )
    assert.deepEqual(await listed(red), [])
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

  it('is not proven by a ROA of a prefix of the caller, and the response describes the valid methods', async () => {
    await api.database.postgres.owner
      .insertInto('prefixes')
      .values({ team_id: red.teamId, prefix: '198.51.100.0/24' })
      .execute()
    assert.match(
      methodOf(await verify(red, asns.roa), 'roa').instructions,
      /\(198\.51\.100\.0\/24, maxLength 24, AS64502\)/,
    )
    const answer = await verify(red, asns.roa, '?method=roa&refresh=true')
    const [roa] = answer.methods
    assert.deepEqual([roa!.state, roa!.proves], ['valid', 'address_space'])
    assert.deepEqual([answer.verified, answer.verified_by, answer.expires], [null, null, null])
    assert.match(roa!.instructions, /does not verify AS64502.*Add the token to the aut-num object instead/)
    assert.deepEqual(await actionsOf(red, asns.roa), [])
    const { email } = await addUser(api, 'admin', [red], { admin: true })
    const announced = await api.server.inject({
      method: 'POST',
      url: '/v3/ipam/announcements',
      headers: { authorization: `Bearer ${(await api.signIn(email)).access}` },
      payload: { cidr: '198.51.100.0/24', origin_asn: asns.roa },
    })
    assert.equal(announced.statusCode, 422)
    assert.deepEqual(
      announced.json().errors.map(({ type }: { type: string }) => type),
      ['asn_not_verified'],
    )
  })

  it('can be verified by staff on such evidence, and repeating it changes nothing', async () => {
    const shown = await get(`/v3/admin/asns?asn=${asns.roa}`, staff)
    const [one] = shown.json().results
    assert.deepEqual([one.team.id, one.verified, one.evidence[0].method], [red.teamId, null, 'roa'])
    const body = { team_id: red.teamId, reason: 'Contract 4711 names the ASN.' }
    const first = await decide('verify', asns.roa, body)
    assert.deepEqual([first.statusCode, first.json().verified_by], [200, 'operator'])
    assert.deepEqual((await decide('verify', asns.roa, body)).json(), first.json())
    assert.deepEqual(await actionsOf(red, asns.roa), ['asn.verify'])
    const [listedOne] = await listed(red, `?asn=${asns.roa}`)
    assert.deepEqual([listedOne!.verified_by, listedOne!.expires], ['operator', null])
    const other = await decide('verify', asns.roa, { team_id: blue.teamId, reason: 'A mistake.' })
    assert.deepEqual([other.statusCode, other.json().code], [409, 'conflict'])
    const nobody = await decide('verify', asns.roa, { team_id: 999_999, reason: 'x' })
    assert.deepEqual([nobody.statusCode, nobody.json().code], [404, 'not_found'])
    const member = await decide('verify', asns.roa, body, bearers.get(red)!)
    assert.deepEqual([member.statusCode, member.json().code], [403, 'forbidden'])
  })

  it('ends for the team that proved it once staff verify it for another team', async () => {
    assert.equal((await verify(red, asns.autNum)).verified_by, 'aut_num')
    const given = await decide('verify', asns.autNum, { team_id: blue.teamId, reason: 'Blue bought it.' })
    assert.deepEqual([given.statusCode, given.json().verified_by], [200, 'operator'])
    const mine = await verify(red, asns.autNum)
    assert.deepEqual([mine.verified, mine.conflict], [null, true])
    assert.deepEqual(await actionsOf(red, asns.autNum), ['asn.verify', 'asn.expire'])
    const { rows } = await sql`select 1 from audit_entries
      where team_id = ${red.teamId} and after::text like '%Blue%'`.execute(api.database.postgres.owner)
    assert.deepEqual(rows, [], 'the reason names the other team')
    const again = await refreshElsewhere(red, asns.autNum, 'aut_num')
    assert.deepEqual([again.verified, again.conflict], [null, true])
  })

  it('is in conflict only for a team whose own proof holds, so that nobody finds out who holds which ASN', async () => {
    await decide('verify', asns.taken, { team_id: blue.teamId, reason: 'A customer.' })
    const texts = []
    for (const asn of [asns.taken, asns.free]) {
      const answers = [await verify(red, asn), await verify(red, asn, '?refresh=true')]
      assert.deepEqual(
        answers.map(({ conflict }) => conflict),
        [false, false],
      )
      const { token } = methodOf(answers[0]!, 'aut_num')
      texts.push(
        JSON.stringify(answers)
          .replaceAll(token!, 'TOKEN')
          .replaceAll(methodOf(answers[0]!, 'dns_txt').token!, 'TOKEN')
          .replaceAll(String(asn), 'ASN')
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'),
      )
    }
    assert.equal(texts[0], texts[1])
    await putAutNum(asns.taken, red)
    const proven = await refreshElsewhere(red, asns.taken, 'aut_num')
    assert.deepEqual([proven.verified, proven.conflict], [null, true])
  })

  it('is revoked at once, and proofs of the team are ignored until staff verify it again', async () => {
    await putAutNum(asns.lost, red)
    assert.equal((await refreshElsewhere(red, asns.lost, 'aut_num')).verified_by, 'aut_num')
    const { postgres } = api.database
    const regions = Object.values(await seedRegions(postgres, ['ams']))
    const seed = { teamId: red.teamId, prefix: '192.0.2.0/24', originAsn: asns.lost, regions }
    const announcement = await seedAnnouncement(postgres, seed)
    const body = { team_id: red.teamId, reason: 'The ASN was sold.' }
    const first = await decide('revoke', asns.lost, body)
    assert.deepEqual([first.statusCode, first.json().verified], [200, null])
    assert.equal(first.json().revoked.reason, 'The ASN was sold.')
    assert.deepEqual((await decide('revoke', asns.lost, body)).json(), first.json())
    const after = await refreshElsewhere(red, asns.lost, 'aut_num')
    assert.deepEqual([after.verified, after.conflict], [null, false])
    assert.deepEqual(after.revoked, first.json().revoked)
    assert.deepEqual(await actionsOf(red, asns.lost), ['asn.verify', 'asn.revoke'])
    const switched = async (enabled: boolean) => {
      const response = await api.server.inject({
        method: 'PATCH',
        url: `/v3/ipam/announcements/${announcement}`,
        headers: { authorization: bearers.get(red)! },
        payload: { enabled },
      })
      return [response.statusCode, response.json().errors?.[0].ctx.missing]
    }
    assert.deepEqual(await switched(true), [409, 'asn'])
    assert.deepEqual(await switched(false), [200, undefined])
    const back = await decide('verify', asns.lost, { team_id: red.teamId, reason: 'The sale was cancelled.' })
    assert.deepEqual([back.json().verified_by, back.json().revoked], ['operator', null])
    assert.deepEqual(await switched(true), [200, undefined])
  })

  it('is verified for exactly one of two teams that prove it at the same moment', async () => {
    await putAutNum(asns.race, red, blue)
    const both = () => Promise.all([red, blue].map((team) => refreshElsewhere(team, asns.race, 'aut_num')))
    const answers = await both()
    assert.deepEqual(answers.map(({ verified_by: by }) => by).toSorted(), ['aut_num', null])
    assert.deepEqual((await both()).map(({ conflict }) => conflict).toSorted(), [false, true])
    const insert = sql`insert into asns (team_id, asn, verified)
      select id, ${asns.race}, now() from teams where id in (${red.teamId}, ${blue.teamId})
      on conflict (team_id, asn) do update set verified = now(), verified_by = null, expires = null`
    await assert.rejects(insert.execute(api.database.postgres.owner), { constraint: 'asns_one_holder' })
  })

  it('is checked again by the loop, with the settings of the process', async () => {
    const { owner } = api.database.postgres
    // Proofs that a responding registry no longer contains, and proofs that it still contains.
    await sql`insert into asns (team_id, asn, verified, verified_by, expires)
      values (${red.teamId}, ${asns.gone}, now() - interval '181 days', 'aut_num', now() - interval '1 day')`.execute(
      owner,
    )
    await putAutNum(asns.kept, red)
    await refreshElsewhere(red, asns.kept, 'aut_num')
    await sql`update asn_proofs set checked = checked - interval '2 days' where asn = ${asns.kept}`.execute(
      owner,
    )
    const before = await held(asns.kept)
    const [log, metrics] = [createLog(api.config), createMetrics()]
    const views = createRegistryViews(api.config, log, metrics)
    await views.rpki.start?.()
    await waitFor('the ROAs are read', () => views.rpki.status().source !== null)
    const part = asnProofsPart({ ...api.shared, ...views, log, metrics })
    await part.start?.()
    await waitFor('the end is stored', async () => (await held(asns.gone))?.verified === null)
    await waitFor(
      'the other stays verified',
      async () => (await held(asns.kept))!.expires! > before!.expires!,
    )
    await part.stop?.()
    await views.rpki.stop?.()
    await views.irr.stop?.()
  })

  it('is checked at most once a minute, and the refusal reports when to retry', async () => {
    const url = `/v3/inventory/asns/${asns.never}/verify?refresh=true&method=roa`
    const bearer = bearers.get(red)!
    assert.equal((await get(url, bearer)).statusCode, 200)
    const again = await get(url, bearer)
    assert.equal(again.statusCode, 429)
    assert.ok(Number(again.headers['retry-after']) > 50 && Number(again.headers['retry-after']) <= 60)
    assert.equal((await get(url, bearers.get(blue)!)).statusCode, 200)
  })

  it('can be read by a read-only token and refreshed by one with write scope', async () => {
    const token = async (...scopes: string[]) => `Token ${await addApiToken(api, blue.teamId, { scopes })}`
    const [reader, writer] = [await token('ipam:read'), await token('ipam:read', 'ipam:write')]
    const url = '/v3/inventory/asns/64504/verify'
    assert.equal((await get(url, reader)).statusCode, 200)
    const refused = await get(`${url}?refresh=true`, reader)
    assert.deepEqual([refused.statusCode, refused.json().code], [403, 'scope_missing'])
    assert.equal((await get(`${url}?refresh=true`, writer)).statusCode, 200)
  })

  it('is rejected if it is reserved, or reserved for documentation outside of a lab', async () => {
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
    await using production = await createTestApi(real, { sameInstallationAs: api })
    assert.deepEqual(await refusal(asns.dns, production), [422, 'reserved_asn', 'path.asn'])
  })
})

describe("the list of a team's ASNs", { skip }, () => {
  it('contains the ASNs of the team, with filters, sorting and pages', async () => {
    const green = await addTeam(api, 'green')
    const { email } = await addUser(api, 'member', [green])
    bearers.set(green, `Bearer ${(await api.signIn(email)).access}`)
    await sql`insert into asns (team_id, asn, name, verified, verified_by, expires) values
      (${green.teamId}, 64497, 'said', now(), null, null),
      (${green.teamId}, 64495, 'claimed', null, null, null),
      (${green.teamId}, 64496, 'proven', now(), 'aut_num', now() + interval '1 day'),
      (${green.teamId}, 64498, 'over', now(), 'aut_num', now() - interval '1 day')`.execute(
      api.database.postgres.owner,
    )
    const namesOf = async (query: string) => (await listed(green, query)).map(({ name }) => name)
    assert.deepEqual(await namesOf(''), ['claimed', 'proven', 'said', 'over'])
    assert.deepEqual(await namesOf('?ordering=-asn'), ['over', 'said', 'proven', 'claimed'])
    assert.deepEqual(await namesOf('?verified=true'), ['proven', 'said'])
    assert.deepEqual(await namesOf('?verified=false'), ['claimed', 'over'])
    assert.deepEqual(await namesOf('?asn=64495&asn=64497&asn=64500'), ['claimed', 'said'])
    const by = Object.fromEntries((await listed(green)).map((one) => [one.name, one.verified_by]))
    assert.deepEqual(by, { claimed: null, proven: 'aut_num', said: 'operator', over: null })
    const page = await get('/v3/inventory/asns?limit=1&offset=3', bearers.get(green)!)
    assert.deepEqual([page.json().results[0].name, page.json().count], ['over', 4])
    const past = await get('/v3/inventory/asns?offset=10', bearers.get(green)!)
    assert.deepEqual(past.json(), { results: [], count: 4 })
  })
})
