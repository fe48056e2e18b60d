// The speakers of a region, from the settings that `pharos apply` stored in the region's row.
import type { RegionRecord } from '../byoip/reconcile/reconcile.store.ts'
import type { RegionSpeaker } from '../byoip/reconcile/region-reconciler.ts'
import { createSpeaker, type NamedSpeaker } from '../drivers/speakers.ts'

/** Creates the speakers of a region; throws an Error if their settings are not valid, or a key file cannot be read. */
export function createSpeakers(region: RegionRecord): readonly RegionSpeaker[] {
  const { slug, communities, largeCommunities, blackholeNextHop: { ipv4, ipv6 } = {} } = region
  const discard = {
    ...(ipv4 === undefined ? {} : { discard4: ipv4 }),
    ...(ipv6 === undefined ? {} : { discard6: ipv6 }),
  }
  return (region.speakers as readonly NamedSpeaker[]).map(({ name, ...settings }) => {
    const { speaker, nextHops } = createSpeaker(settings, name === slug ? slug : `${slug}/${name}`)
    return { name, speaker, routes: { communities, largeCommunities, ...nextHops, ...discard } }
  })
}
