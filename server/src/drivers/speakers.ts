// The drivers of the port Speaker, by the `kind` of a speaker in the platform file and in `regions.speakers`.
import type { Speaker } from '../byoip/regions/speaker.ts'
import type { SpeakerDriver, SpeakerSettings } from '../byoip/regions/speaker-driver.ts'
import type { RouteSettings } from '../byoip/regions/plan.ts'
import { driverList } from './driver/driver-list.ts'
import { gobgp } from './gobgp/driver.ts'
import { sandbox } from './sandbox/driver.ts'

export const speakerDrivers = driverList<SpeakerDriver>('speaker', [sandbox, gobgp])

/** A speaker of a region; the name is unique in the region. */
export type NamedSpeaker = { readonly name: string; readonly kind: string } & SpeakerSettings

/**
 * Returns the name of a router in logs: that of the region for its only router. A sandbox of another name is another router.
 */
export const routerLabel = (region: string, name: string): string =>
  name === region ? region : `${region}/${name}`

/** Returns a text that is equal for the speakers that have the same routes, of the router with this label. */
export const speakerIdentity = (settings: SpeakerSettings, router: string): string =>
  `${String(settings['kind'])} ${speakerDrivers.find(settings['kind'])?.ownerOf(settings) ?? router}`

/**
 * Creates a speaker, not connected yet, with the next hops of its routes. Throws an Error if the settings are not valid or a key
 * file cannot be read. `router` is a unique name for logs.
 */
export function createSpeaker(
  settings: SpeakerSettings,
  router: string,
): { readonly speaker: Speaker; readonly nextHops: Pick<RouteSettings, 'nextHop4' | 'nextHop6'> } {
  const driver = speakerDrivers.get(settings, router)
  return { speaker: driver.create(settings, router), nextHops: driver.nextHopsOf(settings) }
}
