// Visibility in words: how many route collectors in other networks have the route, how fast a change reached them, and
// problems. Pure.
import type { Visibility } from '@pharos/contract/byoip/visibility'
import { formatDuration, since } from '../ui/time-text.ts'

const collectors = (count: number): string => `${count} ${count === 1 ? 'collector' : 'collectors'}`

/** Returns `Seen by 287 of 300 collectors`; if not all are known, that at least so many see it. */
function seenText({ state, collectors_total, collectors_seeing }: Visibility): string {
  const seeing = collectors_seeing ?? 0
  const total = collectors_total ?? 0
  if (state === 'partial') return `Seen by at least ${collectors(seeing)}`
  return seeing === 0 && total > 0
    ? `Seen by none of ${collectors(total)}`
    : `Seen by ${seeing} of ${collectors(total)}`
}

function changeText({ last_change: change, zombie }: Visibility, now: number): string | undefined {
  if (!change) return undefined
  const { kind, at, seconds_to_80pct: seconds } = change
  const took = seconds === null ? undefined : formatDuration(seconds * 1000)
  if (kind === 'announced') return took === undefined ? undefined : `reached 80 % after ${took}`
  const withdrawn = `withdrawn ${since(at, now)}`
  if (zombie) return `still seen although ${withdrawn}`
  return took === undefined ? withdrawn : `${withdrawn}, gone from 80 % after ${took}`
}

/** Returns one sentence about the current state; undefined if it is not known. */
export function visibilityText(visibility: Visibility, now = Date.now()): string | undefined {
  const { state, zombie, collectors_seeing, last_change: change } = visibility
  if (state === 'unavailable') return undefined
  if (zombie && change)
    return `Still seen at ${collectors(collectors_seeing ?? 0)} although withdrawn ${since(change.at, now)}.`
  const parts = [seenText(visibility), changeText(visibility, now)]
  return `${parts.filter((part) => part !== undefined).join('; ')}.`
}

/** Returns the origins with their share of the collectors, unless all have the expected one. */
export function originsText({ origins }: Visibility): string | undefined {
  if (origins.every(({ expected }) => expected)) return undefined
  const texts = origins.map(
    ({ asn, count, expected }) => `AS${asn}${expected ? '' : ' (another network)'} at ${collectors(count)}`,
  )
  return `Origins: ${texts.join(', ')}.`
}

/** Returns the routes inside the prefix that other networks announce. */
export function moreSpecificsText({ more_specifics }: Visibility): string | undefined {
  if (more_specifics.length === 0) return undefined
  const texts = more_specifics.map(({ cidr, asn, count }) => `${cidr} by AS${asn} at ${collectors(count)}`)
  return `Parts announced by other networks: ${texts.join(', ')}.`
}
