// The number of regions that announce a prefix, of the regions it is configured for. All pages use this cell.
import { Dimmed } from '../ui/cells.tsx'
import { regionCount, type Regional } from './region-count.ts'

type Props = {
  readonly announcement: Regional
  /** The slugs of all regions that the team can use. */
  readonly open: readonly string[]
}

export function RegionCount({ announcement, open }: Props) {
  const count = regionCount(announcement, open)
  if (count === undefined) return <Dimmed>–</Dimmed>
  return <span title={count.names}>{count.text}</span>
}
