// Regions: parts of the provider's network with one or more routers, in which announcements are enabled separately.
import { isIP } from 'node:net'
import { sql } from 'kysely'
import { Type, type Static } from 'typebox'
import { addFormerSpeakers, removeFormerSpeakers } from '../../byoip/regions/former-speakers.store.ts'
import { parseCommunity, parseLargeCommunity, reservedCommunity } from '../../net/community.ts'
import { speakerDrivers, type NamedSpeaker } from '../../drivers/speakers.ts'
import { defineKind, rowsByKey } from '../engine/define-kind.ts'
import { column, mapped, reference } from '../engine/field.ts'
import type { CheckContext, Element } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { Flag, Name, Optional, SettingsOf, ShortSlug, Strict } from '../engine/schema.ts'
import { locationKind } from './location.ts'
import { identitiesOf, lostSpeakers, speakersAfter } from './region-speakers.ts'

const Communities = Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
  uniqueItems: true,
  maxItems: 32,
  expects: "a list of communities such as ['64500:120']",
})

const Speaker = SettingsOf(speakerDrivers.schemas, 'kind')

const RegionElement = Strict({
  slug: ShortSlug,
  name: Name,
  location: ShortSlug,
  open: Optional(Flag),
  speaker: Optional(Speaker),
  speakers: Optional(Type.Array(Speaker, { minItems: 1, maxItems: 16, expects: 'a list of speakers' })),
  quorum: Optional(Type.Integer({ minimum: 1, maximum: 16, expects: 'a number of routers, such as 1' })),
  communities: Optional(Communities),
  large_communities: Optional(Communities),
  /** Next hops that the edge routers discard; by default 192.0.2.1 and 100::1. */
  blackhole_next_hop: Optional(
    Strict({
      ipv4: Optional(
        Type.String({ minLength: 2, maxLength: 50, expects: 'an IPv4 address, such as 192.0.2.1' }),
      ),
      ipv6: Optional(
        Type.String({ minLength: 2, maxLength: 50, expects: 'an IPv6 address, such as 2001:db8::1' }),
      ),
    }),
  ),
})

export const regionKind = defineKind({
  name: 'region',
  plural: 'regions',
  section: 'regions',
  element: RegionElement,
  table: {
    name: 'regions',
    id: 'id',
    select: {
      routes_left: sql`
        (select coalesce(max(o.routes), 0) from region_routers o, jsonb_array_elements(t.speakers) s
          where o.region_id = t.id and o.name = s ->> 'name')`,
      formers_left: sql`(select count(*) from former_speakers f where f.region_id = t.id)`,
      drained: sql`
        array(select o.name from region_routers o where o.region_id = t.id and o.drained is not null order by o.name)`,
    },
  },
  identity: ['slug'],
  fields: {
    slug: column('regions', 'slug'),
    name: column('regions', 'name', { isShown: true }),
    location: reference('regions', 'location_key', locationKind),
    open: column('regions', 'open', { initial: true }),
    speakers: mapped('regions', ['speakers'], {
      read: ({ speakers }) => speakers as unknown as readonly NamedSpeaker[],
      write: (speakers) => ({ speakers }),
    }),
    /** How many routers must carry a route before it counts as announced; null: all that are not drained. */
    quorum: column('regions', 'quorum', { initial: null }),
    communities: column('regions', 'communities', { initial: [] }),
    large_communities: column('regions', 'large_communities', { initial: [] }),
    blackhole_next_hop: column('regions', 'blackhole_next_hop', { initial: {} }),
  },
  disabled: { open: false },
  wakes: 'announcements',
  stateOf: ({ routes_left, formers_left }) => ({
    inUse: reasonToKeep(routes_left as number, formers_left as number),
  }),
  /** Names the routers that become former ones, and the regions without a router that announces. */
  adjust({ changes, current, notice }) {
    const rows = rowsByKey(current, regionKind)
    const before = new Map([...rows.values()].map(({ key, fields }) => [key, fields.speakers]))
    const after = speakersAfter(before, changes)
    for (const { region: slug, name, identity } of lostSpeakers(before, after))
      notice(
        `region ${slug}: ${name} (${identity}) becomes a former router: its routes are withdrawn once the others announce them`,
      )
    for (const [slug, speakers] of after) {
      const drained = (rows.get(slug)?.selected['drained'] ?? []) as readonly string[]
      const [first] = speakers
      // None: they could not be read, which is a problem of the file.
      if (!first || !speakers.every(({ name }) => drained.includes(name))) continue
      notice(
        `region ${slug}: every router is drained, so that none announces its routes: pharos undrain ${slug} ${first.name}`,
      )
    }
    return changes
  },
  async prepare(trx, changes): Promise<void> {
    const { rows } = await sql<{ slug: string; speakers: readonly NamedSpeaker[] }>`
      select slug, speakers from regions order by id for no key update`.execute(trx)
    const before = new Map(rows.map(({ slug, speakers }) => [slug, speakers]))
    const after = speakersAfter(before, changes)
    await addFormerSpeakers(trx, lostSpeakers(before, after))
    await removeFormerSpeakers(trx, [...identitiesOf(after)])
  },
  elementOf: ({ slug, speakers, ...rest }) => {
    const [{ name, ...speaker }, ...others] = speakers as [NamedSpeaker, ...NamedSpeaker[]]
    return others.length === 0 && name === slug ? { slug, ...rest, speaker } : { slug, ...rest, speakers }
  },
  check(context, elements): void {
    const takenBy = routersBeside(context, elements)
    for (const { path, element } of elements) {
      const { speaker: _, communities, large_communities, ...rest } = element
      const speakers = readSpeakers(context, path, element)
      for (const one of speakers) {
        const other = takenBy.get(ownerOf(one) ?? '')
        if (other !== undefined)
          context.problem(path, `region ${other} has a speaker with the router and the owner of ${one.name}`)
      }
      checkQuorum(context, path, rest.quorum, speakers.length)
      checkCommunities(context, [...path, 'communities'], communities, parseCommunity)
      checkDiscard(context, [...path, 'blackhole_next_hop'], rest.blackhole_next_hop)
      checkCommunities(context, [...path, 'large_communities'], large_communities, parseLargeCommunity)
      context.add(regionKind, path, { ...rest, communities, large_communities, speakers })
    }
  },
  async delete(trx, { id }): Promise<void> {
    await sql`delete from approvals where region_id = ${id}`.execute(trx)
    await sql`delete from region_withdrawals where region_id = ${id}`.execute(trx)
    await sql`delete from regions where id = ${id}`.execute(trx)
  },
})

/** A router keeps its announcements, so it has to be empty first. */
function reasonToKeep(routes: number, formers: number): string | null {
  if (formers > 0) return `its former routers are not empty yet (${formers}); apply again once they are`
  return routes > 0 ? `its routers still have routes (${routes}); apply again once they are withdrawn` : null
}

/** The routers of the regions that the document neither names nor deletes, with their regions. */
function routersBeside(
  context: CheckContext,
  elements: readonly Element<{ readonly slug: string }>[],
): ReadonlyMap<string, string> {
  const named = new Set(elements.map(({ element }) => element.slug))
  return new Map(
    [...context.rows(regionKind).values()]
      .filter(({ key }) => !named.has(key) && context.exists(regionKind, key))
      .flatMap(({ key, fields }) =>
        fields.speakers.flatMap((one) => ownerOf(one) ?? []).map((owner) => [owner, key] as const),
      ),
  )
}

const ownerOf = (settings: Readonly<Record<string, unknown>>): string | undefined =>
  speakerDrivers.find(settings['kind'])?.ownerOf(settings)

/** Parses `speakers`, or `speaker` as a single speaker with the name of the region. */
function readSpeakers(
  context: CheckContext,
  path: Path,
  { slug, speaker, speakers }: Static<typeof RegionElement>,
): NamedSpeaker[] {
  if ((speaker === undefined) === (speakers === undefined)) {
    context.problem(path, `region ${slug} needs either speaker or speakers`)
    return []
  }
  if (speaker !== undefined) return [readSpeaker(context, [...path, 'speaker'], { ...speaker, name: slug })]
  const names = new Set<unknown>()
  return speakers!.map((one, at) => {
    const place = [...path, 'speakers', at]
    if (typeof one['name'] !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(one['name'])) {
      const form = 'lower-case letters, digits and hyphens, such as r1'
      context.problem(place, `each of several speakers needs a name: ${form}`)
    } else if (names.has(one['name'])) {
      context.problem([...place, 'name'], `two speakers are named ${one['name']}`)
    }
    names.add(one['name'])
    return readSpeaker(context, place, one)
  })
}

function readSpeaker(
  context: CheckContext,
  path: Path,
  value: Readonly<Record<string, unknown>>,
): NamedSpeaker {
  const { name: _, ...settings } = value
  const problems = speakerDrivers.check(settings)
  for (const { path: inside, message } of problems) context.problem([...path, ...inside], message)
  // Two speakers on one router with one owner would treat each other's routes as foreign and withdraw them.
  const owner = ownerOf(settings)
  if (owner !== undefined)
    context.claim(owner, [...path, 'address'], 'two speakers share a router and an owner')
  return value as NamedSpeaker
}

function checkQuorum(context: CheckContext, path: Path, quorum: number | undefined, speakers: number): void {
  if (quorum === undefined || quorum <= speakers) return
  context.problem([...path, 'quorum'], `quorum is ${quorum}, but the region has ${speakers} speakers`)
}

function checkDiscard(
  context: CheckContext,
  path: Path,
  { ipv4, ipv6 }: Static<typeof RegionElement>['blackhole_next_hop'] = {},
): void {
  if (ipv4 !== undefined && isIP(ipv4) !== 4)
    context.problem([...path, 'ipv4'], 'ipv4 must be an IPv4 address')
  if (ipv6 !== undefined && isIP(ipv6) !== 6)
    context.problem([...path, 'ipv6'], 'ipv6 must be an IPv6 address')
}

/** Every announcement of the region gets them: with a reserved one, neighbors would not pass its routes on, or discard its traffic. */
function checkCommunities(
  context: CheckContext,
  path: Path,
  communities: readonly string[] = [],
  parse: (text: string) => unknown,
): void {
  for (const [at, community] of communities.entries()) {
    try {
      parse(community)
      const name = reservedCommunity(community)
      if (name !== undefined) throw new Error(reservedText(community, name))
    } catch (error) {
      context.problem([...path, at], (error as Error).message)
    }
  }
}

function reservedText(community: string, name: string): string {
  const meaning = name === 'reserved' ? 'is reserved' : `is ${name}`
  return `${community} ${meaning}: neighbors may keep, filter or discard every route of the region; set it in the export policy of the router`
}
