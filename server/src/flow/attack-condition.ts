// The condition that a flow is part of an attack, and the times in which that is unknown.
import { comparePrefixes, lastHostOf, networkOf, type Prefix } from '../net/prefix.ts'
import { onsetMsMax, type AttackWindow } from './attack-window.store.ts'
import { storedAddress } from './flow-key.ts'
import { secondsOf } from './flow-query.ts'
import type { Param } from './flow-store.ts'

export { listAttackWindows, type AttackWindow } from './attack-window.store.ts'

/**
 * Returns the onsets of the attacks, as windows for `attackCondition`: an event begins when its detector is sure, up to
 * a minute after the first packet. In that time it is unknown whether traffic to a target is normal.
 *
 * The onset of an ended attack is no longer than the attack: a detector with false or many short attacks excludes by
 * onsets at most as much normal traffic of a target as by the attacks themselves. An ongoing attack covers all later
 * traffic, and so has one onset.
 */
export const onsetsOf = (attacks: readonly AttackWindow[]): AttackWindow[] =>
  attacks.map(({ network, startMs, endMs }) => ({
    network,
    startMs: startMs - Math.min(onsetMsMax, endMs === null ? onsetMsMax : Math.max(0, endMs - startMs)),
    endMs: startMs,
  }))

/** The condition that a flow went to a target of an event while it lasted. */
export function attackCondition(
  attacks: readonly AttackWindow[],
  bind: (type: string, value: Param) => string,
  nowMs: number,
): string {
  if (attacks.length === 0) return 'false'
  const ordered = attacks.toSorted((a, b) => comparePrefixes(a.network, b.network) || a.startMs - b.startMs)
  const addresses = (of: (network: Prefix) => string): string =>
    `arrayMap(a -> toIPv6(a), ${bind(
      'Array(String)',
      ordered.map(({ network }) => storedAddress(of(network))),
    )})`
  const seconds = (of: (attack: AttackWindow) => number): string =>
    bind(
      'Array(UInt32)',
      ordered.map((attack) => secondsOf(new Date(of(attack)))),
    )
  return (
    'arrayExists((first, last, since, until) -> dst_addr >= first and dst_addr <= last and ' +
    'toUInt32(time) >= since and toUInt32(time) <= until, ' +
    `${addresses(networkOf)}, ${addresses((network) => networkOf(lastHostOf(network)))}, ` +
    `${seconds(({ startMs }) => startMs)}, ${seconds(({ endMs }) => Math.ceil((endMs ?? nowMs) / 1000) * 1000)})`
  )
}
