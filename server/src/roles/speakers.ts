// The speakers of a region, from the settings that `pharos apply` stored in the region's row.
import type { FormerRecord, RegionRecord } from '../byoip/regions/reconcile.store.ts'
import type { RegionSpeaker } from '../byoip/regions/region-reconciler.ts'
import type { Speaker } from '../byoip/regions/speaker.ts'
import { createSpeaker, routerLabel, type NamedSpeaker } from '../drivers/speakers.ts'
import { DriverError } from '../runtime/driver-error.ts'

/**
 * Creates the speakers of a region, its former ones last; throws an Error if their settings are not valid, or a key file cannot be read. That of a
 * former one may be gone with the router: it cannot be read then.
 */
export function createSpeakers(region: RegionRecord): readonly RegionSpeaker[] {
  const { slug, formers = [] } = region
  return [...currentSpeakers(region), ...formers.map((one) => formerSpeaker(slug, one))]
}

function currentSpeakers(region: RegionRecord): readonly RegionSpeaker[] {
  const { slug, communities, largeCommunities, blackholeNextHop: { ipv4, ipv6 } = {} } = region
  const discard = {
    ...(ipv4 === undefined ? {} : { discard4: ipv4 }),
    ...(ipv6 === undefined ? {} : { discard6: ipv6 }),
  }
  return (region.speakers as readonly NamedSpeaker[]).map(({ name, ...settings }) => {
    const { speaker, nextHops } = createSpeaker(settings, routerLabel(slug, name))
    return { name, speaker, routes: { communities, largeCommunities, ...nextHops, ...discard } }
  })
}

function formerSpeaker(slug: string, { id, name, settings }: FormerRecord): RegionSpeaker {
  const one = { name: `${name} (former ${id})`, routes: {}, former: id }
  try {
    return {
      ...one,
      speaker: createSpeaker(settings as NamedSpeaker, routerLabel(slug, name)).speaker,
    }
  } catch (error) {
    return { ...one, speaker: unusableSpeaker(error as Error) }
  }
}

function unusableSpeaker({ message }: Error): Speaker {
  const fail = () => Promise.reject(new DriverError('unreachable', message))
  return {
    probe: fail,
    list: fail,
    find: fail,
    announce: fail,
    withdraw: fail,
    neighbors: fail,
    advertised: fail,
    watch: () => () => {},
    close: async () => {},
  }
}
