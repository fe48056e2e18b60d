// Follows every `match_resource_link` of every team's security events: the team's own credential gets 200 for the linked resource,
// any other team 404.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MatchResource, RelatedEvent } from '@pharos/contract/events/event'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { rematch } from '../src/events/relate/rematch.ts'
import {
  addAnnouncement,
  addAsn,
  addLocation,
  addPrefix,
  addSource,
  addTeam as addPlainTeam,
  deliver,
} from '../src/events/testing.ts'
import { prepareDemo } from '../../demo/src/demo.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { createTestApi, type TestApi } from './api.ts'
import { addApiToken } from './support/credentials.ts'
import { createRandom, testSeed, type Random } from './support/random.ts'

type Viewer = { readonly teamId: number; readonly headers: { readonly authorization: string } }
type Found = { readonly viewer: Viewer; readonly resource: MatchResource; readonly name: string }

/** The kinds of resources to which events are related today. */
const producedKinds: readonly MatchResource[] = ['announcement', 'asn', 'prefix']

async function viewersOf(api: TestApi): Promise<Viewer[]> {
  const teams = await api.database.postgres.owner.selectFrom('teams').select('id').orderBy('id').execute()
  const scopes = ['lighthouse:read', 'inventory:read', 'ipam:read']
  return Promise.all(
    teams.map(async ({ id }) => ({
      teamId: id,
      headers: { authorization: `Token ${await addApiToken(api, id, { scopes })}` },
    })),
  )
}

const get = (api: TestApi, { headers }: Viewer, url: string) =>
  api.server.inject({ method: 'GET', url, headers })

/** Returns every link in the related list of every team. */
async function linksOf(api: TestApi, viewers: readonly Viewer[]): Promise<Map<string, Found>> {
  const links = new Map<string, Found>()
  for (const viewer of viewers) {
    for (let offset = 0; ; offset += 1000) {
      const path = `/v3/lighthouse/security/events/related?limit=1000&offset=${offset}`
      const { results, count } = (await get(api, viewer, path)).json<{
        results: RelatedEvent[]
        count: number
      }>()
      for (const { match_resource: resource, match_resource_link: link, ...rest } of results.flatMap(
        ({ relationships }) => relationships,
      )) {
        assert.equal(links.get(link)?.viewer ?? viewer, viewer, `${link} is shown to two teams`)
        links.set(link, { viewer, resource, name: rest.match_resouce_name })
      }
      if (offset + 1000 >= count) break
    }
  }
  return links
}

async function followAll(api: TestApi): Promise<number> {
  const viewers = await viewersOf(api)
  const links = await linksOf(api, viewers)
  const kinds = new Set([...links.values()].map(({ resource }) => resource))
  assert.deepEqual([...kinds].toSorted(), producedKinds)
  for (const [link, found] of links) {
    for (const viewer of viewers) {
      const { statusCode, body, headers } = await get(api, viewer, link)
      if (viewer !== found.viewer) {
        assert.equal(statusCode, 404, `${link} for team ${viewer.teamId}: ${body}`)
        continue
      }
      assert.equal(statusCode, 200, `${link}: ${body}`)
      assert.ok(headers['etag'], link)
      const record = JSON.parse(body) as Record<string, unknown>
      const values = [record['name'], record['cidr'], `AS${String(record['asn'])}`]
      if (found.resource !== 'announcement') assert.ok(values.includes(found.name), `${link}: ${body}`)
    }
  }
  return links.size
}

describe('every match_resource_link', () => {
  it('leads its team, and no other, to the resource, in the demo platform', async () => {
    await using api = await createTestApi()
    const { postgres } = api.database
    await prepareDemo(postgres, api.config, new Date())
    await ingestDeliveries(postgres, createOwnershipCache())
    assert.ok((await followAll(api)) >= 10)
  })

  it(`leads its team, and no other, to the resource, in random data (seed ${testSeed})`, async () => {
    await using api = await createTestApi()
    const { postgres } = api.database
    const random = createRandom(testSeed)
    await addSource(postgres.owner, 'detector', {
      kind: 'generic',
      settings: { fields: { id: '/id', network: '/network' } },
    })
    await addHoldings(api, random)
    const events = Array.from({ length: 150 }, (_, id) => ({
      id: String(id),
      network: randomNetwork(random),
    }))
    await deliver(postgres.owner, 'detector', events)
    const ownership = createOwnershipCache()
    await ingestDeliveries(postgres, ownership)
    assert.ok((await followAll(api)) >= 10)

    await changeHoldings(api, random)
    await rematch(postgres, ownership)
    assert.ok((await followAll(api)) >= 5)
  })
})

const randomNetwork = (random: Random): string =>
  random.chance(0.5)
    ? `203.0.${random.below(8)}.${random.below(8) * 32}/${random.pick([27, 32])}`
    : random.chance(0.5)
      ? `203.0.${random.below(4) * 2}.0/23`
      : `2001:db8:${random.below(8)}::${random.below(9)}/128`

/** Teams with any modules beside that of events, with nested prefixes, announcements in every state, and ASNs. */
async function addHoldings({ database }: TestApi, random: Random): Promise<void> {
  const db = database.postgres.owner
  await addLocation(db, 'ams', 'Amsterdam', 'NL')
  for (let at = 0; at < 6; at++) {
    const teamId = await addPlainTeam(db, `team-${at}`)
    const modules = ['lighthouse', ...['ipam', 'inventory'].filter(() => random.chance(0.5))]
    await db.updateTable('teams').set({ enabled_modules: modules }).where('id', '=', teamId).execute()
    for (const asn of [64500 + at, 64600 + at]) await addAsn(db, teamId, asn, random.pick(['', `Net ${asn}`]))
    for (const prefix of [`203.0.${at}.0/24`, `203.0.${at}.64/26`, `2001:db8:${at}::/48`])
      if (random.chance(0.7))
        await addPrefix(
          db,
          teamId,
          prefix,
          random.pick(['', `Servers ${at}`]),
          random.pick([undefined, 'ams']),
        )
    for (const prefix of [`203.0.${at}.0/24`, `2001:db8:${at}::/48`])
      if (at < 2 || random.chance(0.7)) await addAnnouncement(db, teamId, prefix, 64500 + at)
  }
}

/** Deletes and renames some of each kind, as the platform file and the teams do. */
async function changeHoldings({ database }: TestApi, random: Random): Promise<void> {
  const db = database.postgres.owner
  for (const table of ['prefixes', 'asns'] as const) {
    for (const { id } of await db.selectFrom(table).select('id').orderBy('id').execute()) {
      if (random.chance(0.3)) await db.deleteFrom(table).where('id', '=', id).execute()
      else if (random.chance(0.4))
        await db
          .updateTable(table)
          .set({ name: `Renamed ${id}` })
          .where('id', '=', id)
          .execute()
    }
  }
  for (const { id } of await db.selectFrom('announcements').select('id').orderBy('id').offset(2).execute())
    if (random.chance(0.3))
      await db.updateTable('announcements').set({ deleted: new Date() }).where('id', '=', id).execute()
}
