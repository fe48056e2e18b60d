// Black holes as the API shows them. Pure.
import type { Blackhole, BlackholeStatus } from '@pharos/contract/blackhole'
import { regionReasonText } from '@pharos/contract/region-reason'
import { networkOf, parsePrefix } from '../../net/prefix.ts'
import { etagOf } from '../../operation/etag.ts'
import type { BlackholeRow, RegionRow } from './blackhole.store.ts'

/** `now` decides with `expires`, as the routes do: an end does not wait for the loop that stores it. */
export function presentBlackhole({ host, regions, ...row }: BlackholeRow, now: Date): Blackhole {
  return {
    ...row,
    host: networkOf(parsePrefix(host)),
    status: statusOf(hasEnded(row, now), regions),
    regions: regions.map(presentRegion),
    created: row.created.toISOString(),
    expires: row.expires.toISOString(),
    ended: (hasEnded(row, now) ? (row.ended ?? row.expires) : row.ended)?.toISOString() ?? null,
  }
}

export const hasEnded = ({ ended, expires }: Pick<BlackholeRow, 'ended' | 'expires'>, now: Date): boolean =>
  ended !== null || expires <= now

function statusOf(isOver: boolean, regions: readonly RegionRow[]): BlackholeStatus {
  if (isOver) return regions.every(({ state }) => state === 'withdrawn') ? 'ended' : 'ending'
  const announced = regions.filter(({ state }) => state === 'announced').length
  const desired = regions.filter((region) => region.desired)
  if (announced === 0) return 'pending'
  return desired.every(({ state }) => state === 'announced') ? 'active' : 'partial'
}

const presentRegion = ({ attrs, since, reason, ...region }: RegionRow) => ({
  ...region,
  since: new Date(since).toISOString(),
  reason,
  message: reason && regionReasonText(reason, attrs),
})

/** The observed states change often, and are no version. */
export const blackholeEtag = ({ expires, ended }: BlackholeRow, shown?: Blackhole): string =>
  etagOf({ expires, ended }, shown?.regions)
