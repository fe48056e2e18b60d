// Checks locations, regions and sources of the operator's file, and makes them entries.
import { parseCommunity, parseLargeCommunity } from '../net/community.ts'
import { isTimezone } from '../text/time.ts'
import { given, type CheckContext } from './check-context.ts'
import { checkSource } from './source.ts'
import { checkSpeaker, speakerOwner, type NamedSpeaker } from '../drivers/speakers.ts'

export function checkLocations(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.locations) {
    const path = ['locations', index]
    const { key, name, country, timezone } = element
    if (!isTimezone(timezone)) {
      context.problem([...path, 'timezone'], `${timezone} is no IANA time zone; one is Europe/Amsterdam`)
    }
    context.add({ kind: 'location', key, fields: { name, country, timezone }, path }, `location ${key}`)
  }
}

export function checkRegions(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.regions) {
    const path = ['regions', index]
    const { slug, name, location, open, communities, large_communities, quorum } = element
    context.refer('locations', location, [...path, 'location'])
    const speakers = checkSpeakers(context, path, element)
    if (quorum !== undefined && quorum > speakers.length)
      context.problem(
        [...path, 'quorum'],
        `quorum is ${quorum}, but the region has ${speakers.length} speakers`,
      )
    checkCommunities(context, [...path, 'communities'], communities, parseCommunity)
    checkCommunities(context, [...path, 'large_communities'], large_communities, parseLargeCommunity)
    const fields = { name, location, ...given({ open, quorum, communities, large_communities }) }
    context.add({ kind: 'region', key: slug, fields: { ...fields, speakers }, path }, `region ${slug}`)
  }
}

type WrittenRegion = CheckContext['shaped']['written']['regions'][number]['element']
type PathInFile = (string | number)[]

/** `speaker` is a list of one, named like the region. */
function checkSpeakers(context: CheckContext, path: PathInFile, region: WrittenRegion): NamedSpeaker[] {
  const { slug, speaker, speakers } = region
  if ((speaker === undefined) === (speakers === undefined)) {
    context.problem(path, `region ${slug} needs either speaker or speakers`)
    return []
  }
  if (speaker !== undefined) return [checkOne(context, [...path, 'speaker'], { ...speaker, name: slug })]
  const names = new Set<unknown>()
  return speakers!.map((one, at) => {
    const place = [...path, 'speakers', at]
    if (typeof one.name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(one.name))
      context.problem(
        place,
        'each of several speakers needs a name: lower-case letters, digits and hyphens, such as r1',
      )
    else if (names.has(one.name)) context.problem([...place, 'name'], `two speakers are named ${one.name}`)
    names.add(one.name)
    return checkOne(context, place, one)
  })
}

function checkOne(
  context: CheckContext,
  path: PathInFile,
  value: Readonly<Record<string, unknown>>,
): NamedSpeaker {
  const { name: _, ...settings } = value
  for (const wrong of checkSpeaker(settings)) context.problem([...path, ...wrong.path], wrong.message)
  const owner = speakerOwner(settings)
  if (owner !== undefined)
    context.firstTime(`router ${owner}`, [...path, 'address'], 'two speakers share a router and an owner')
  return value as NamedSpeaker
}

function checkCommunities(
  context: CheckContext,
  path: PathInFile,
  communities: readonly string[] = [],
  parse: (text: string) => unknown,
): void {
  for (const [at, community] of communities.entries()) {
    try {
      parse(community)
    } catch (error) {
      context.problem([...path, at], (error as Error).message)
    }
  }
}

export function checkSources(context: CheckContext): void {
  for (const { index, element } of context.shaped.written.sources) {
    const path = ['sources', index]
    const { key, kind, name, secret: text, secret_file: file, settings } = element
    for (const wrong of checkSource(kind, settings ?? {}))
      context.problem([...path, ...wrong.path], wrong.message)
    const location = settings?.['location']
    if (typeof location === 'string') context.refer('locations', location, [...path, 'settings', 'location'])
    if (text !== undefined && file !== undefined) {
      context.problemAtKey([...path, 'secret_file'], 'give secret or secret_file, not both')
    }
    if (text === undefined && file === undefined && !context.current.source.has(key)) {
      context.problem(path, `source ${key} is new and needs a secret or secret_file`)
    }
    if (text !== undefined) {
      context.credentials.push({ kind: 'source', key, path: [...path, 'secret'], text })
    } else if (file !== undefined) {
      context.credentials.push({ kind: 'source', key, path: [...path, 'secret_file'], file })
    }
    context.add(
      { kind: 'source', key, fields: { kind, name, ...given({ settings }) }, path },
      `source ${key}`,
    )
  }
}
