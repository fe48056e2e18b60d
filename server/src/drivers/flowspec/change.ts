// The only place that creates messages with rules. It returns the exact octets to send, after decoding them as the daemon will: GoBGP
// passes malformed NLRI on, and the router that gets them ends the whole session.
import { deepStrictEqual } from 'node:assert'
import { familyOf } from '../../net/address.ts'
import { actionText, roundedAction } from '../../net/filter-rule.ts'
import { matchText } from '../../net/flow-match.ts'
import { decodeFlowspec, encodeFlowspec } from '../../net/flowspec/nlri.ts'
import { covers } from '../../net/prefix.ts'
import type { Owner, GobgpPath } from '../gobgp/codec.ts'
import type { PathChange, Dialect } from '../gobgp/dialect.ts'
import { reachOctets } from './attributes.ts'
import {
  decodeOwnRule,
  encodeRule,
  encodeFlowspecWithdrawal,
  flowspecFamily,
  type InstalledRule,
} from './codec.ts'

/** Throws AssertionError or TypeError unless the message is exactly these rules, or their withdrawal. */
export function changeOf(
  kind: 'announcement' | 'withdrawal',
  rules: readonly InstalledRule[],
  owner: Owner,
  dialect: Dialect,
): Uint8Array {
  const encode = kind === 'announcement' ? encodeRule : encodeFlowspecWithdrawal
  const octets = dialect.encodeChange(rules.map((rule) => encode(rule, owner, dialect)))
  assertChange(dialect.decodeChange(octets), kind, rules, owner, dialect)
  return octets
}

/** Each path is one rule, with canonical octets and a destination inside the prefix of its list. */
function assertChange(
  { paths, tableType, $unknown }: PathChange,
  kind: 'announcement' | 'withdrawal',
  rules: readonly InstalledRule[],
  owner: Owner,
  { globalTable, flowspecNextHop }: Dialect,
): void {
  deepStrictEqual([$unknown, tableType, paths.length], [undefined, globalTable, rules.length])
  for (const [at, { prefix, rule }] of rules.entries()) {
    const { isWithdraw, identifier, family, nlriBinary, $unknown } = paths[at]!
    const expected = flowspecFamily(familyOf(prefix))
    deepStrictEqual(
      [isWithdraw, identifier, family?.afi, family?.safi, $unknown],
      [kind === 'withdrawal', owner.identifier, expected.afi, expected.safi, undefined],
    )
    const match = decodeFlowspec(nlriBinary, familyOf(prefix))
    deepStrictEqual([matchText(match), covers(prefix, match.destination)], [matchText(rule.match), true])
    // Several operators can mean the same, and are different rules to a router.
    deepStrictEqual([...nlriBinary], [...encodeFlowspec(match)])
    if (kind === 'announcement') assertAnnounced(paths[at]!, { prefix, rule }, owner, flowspecNextHop)
  }
}

/** The attributes have the action, the owner and the list, and no other octets. */
function assertAnnounced(
  path: GobgpPath,
  { prefix, rule }: InstalledRule,
  owner: Owner,
  nextHop: readonly number[],
): void {
  const decoded = decodeOwnRule({ ...path, neighborIp: '' }, familyOf(prefix), owner)
  const actual = decoded && [decoded.prefix, decoded.rule.id, actionText(decoded.rule.action)]
  deepStrictEqual(actual, [prefix, rule.id, actionText(roundedAction(rule.action))])
  const octets = path.pattrsBinary.map((attribute) => [...attribute])
  const reach = reachOctets(path.nlriBinary, path.family!.afi, nextHop)
  const head =
    reach.length > 255 ? [0x90, 14, reach.length >>> 8, reach.length & 255] : [0x80, 14, reach.length]
  // ORIGIN, AS_PATH and MP_REACH_NLRI have one form; the others were decoded, and their length and flags follow from the action.
  deepStrictEqual(octets.slice(0, 3), [
    [0x40, 1, 1, 0],
    [0x40, 2, 0],
    [...head, ...reach],
  ])
  const rest = octets.slice(3).map((attribute) => [attribute.length, ...attribute.slice(0, 3)])
  const communities = rule.action.kind === 'allow' ? [] : [[11, 0xc0, 16, 8]]
  deepStrictEqual(rest, [...communities, [27, 0xc0, 32, 24]])
  const asOfRate = octets.slice(3, -1).map((attribute) => attribute.slice(5, 7))
  deepStrictEqual(
    asOfRate,
    communities.map(() => [0, 0]),
  )
}
