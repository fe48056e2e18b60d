// The drivers of the port Speaker, by the `kind` of a speaker in the platform file and in `regions.speakers`.
import type { Speaker } from '../byoip/regions/speaker.ts'
import type { SpeakerDriver, SpeakerProblem, SpeakerSettings } from '../byoip/regions/speaker-driver.ts'
import type { RouteSettings } from '../byoip/regions/plan.ts'
import { gobgp } from './gobgp/driver.ts'
import { sandbox } from './sandbox/driver.ts'

const drivers: readonly SpeakerDriver[] = [sandbox, gobgp]

/** A speaker of a region; the name is unique in the region. */
export type NamedSpeaker = { readonly name: string; readonly kind: string } & SpeakerSettings

/** Returns the problems of the settings, each with its place; none means that they can be used. */
export function checkSpeaker(settings: SpeakerSettings): readonly SpeakerProblem[] {
  const driver = findDriver(settings)
  if (driver) return driver.check(settings)
  const kinds = drivers.map(({ kind }) => kind).join(' or ')
  return [{ path: ['kind'], message: `the kind of a speaker is ${kinds}` }]
}

/** Returns a text that is equal for speakers with the same router and owner; undefined if they do not exclude each other. */
export function speakerOwner(settings: SpeakerSettings): string | undefined {
  return findDriver(settings)?.ownerOf(settings)
}

/**
 * Returns the name of a router in logs: that of the region for its only router. A sandbox of another name is another router.
 */
export const routerLabel = (region: string, name: string): string =>
  name === region ? region : `${region}/${name}`

/** Returns a text that is equal for the speakers that have the same routes, of the router with this label. */
export const speakerIdentity = (settings: SpeakerSettings, router: string): string =>
  `${String(settings['kind'])} ${speakerOwner(settings) ?? router}`

/**
 * Creates a speaker, not connected yet, with the next hops of its routes. Throws an Error if the settings are not valid or a key
 * file cannot be read. `router` is a unique name for logs.
 */
export function createSpeaker(
  settings: SpeakerSettings,
  router: string,
): { readonly speaker: Speaker; readonly nextHops: Pick<RouteSettings, 'nextHop4' | 'nextHop6'> } {
  const problems = checkSpeaker(settings)
  if (problems.length > 0)
    throw new Error(`speaker ${router}: ${problems.map(({ message }) => message).join('; ')}`)
  const driver = findDriver(settings)!
  return { speaker: driver.create(settings, router), nextHops: driver.nextHopsOf(settings) }
}

const findDriver = ({ kind }: SpeakerSettings): SpeakerDriver | undefined =>
  drivers.find((driver) => driver.kind === kind)
