// Which routers the regions of a platform file lose: changed address or owner, or missing. Pure.
import type { FormerSpeaker } from '../../byoip/regions/former-speakers.store.ts'
import { routerLabel, speakerIdentity, type NamedSpeaker } from '../../drivers/speakers.ts'
import type { PlatformChange } from '../engine/kind.ts'

/** The speakers of regions by their slug. */
export type RegionSpeakers = ReadonlyMap<string, readonly NamedSpeaker[]>

/** Returns the speakers after the changes. */
export function speakersAfter(before: RegionSpeakers, changes: readonly PlatformChange[]): RegionSpeakers {
  const after = new Map(before)
  for (const change of changes) {
    if (change.kind !== 'region') continue
    if (change.action === 'delete') after.delete(change.key)
    else if (change.fields['speakers'])
      after.set(change.key, change.fields['speakers'] as readonly NamedSpeaker[])
  }
  return after
}

/** Returns the identities of all speakers. */
export const identitiesOf = (speakers: RegionSpeakers): ReadonlySet<string> =>
  new Set(namedSpeakers(speakers).map(({ identity }) => identity))

/**
 * Returns the speakers that are in no region any more. A speaker that moves to another region is not included: its
 * announcements there must stay. A deleted region has no routes.
 */
export function lostSpeakers(before: RegionSpeakers, after: RegionSpeakers): FormerSpeaker[] {
  const kept = identitiesOf(after)
  return namedSpeakers(before).filter(({ region, identity }) => after.has(region) && !kept.has(identity))
}

function namedSpeakers(speakers: RegionSpeakers): FormerSpeaker[] {
  return [...speakers].flatMap(([region, all]) =>
    all.map(({ name, ...settings }) => {
      const identity = speakerIdentity(settings, routerLabel(region, name))
      return { region, name, settings, identity }
    }),
  )
}
