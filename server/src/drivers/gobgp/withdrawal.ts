// The only place that creates withdrawals. It returns the exact octets to send, after decoding them as the daemon will, so
// that no mistake in a type, a name or a default can turn a withdrawal into an announcement, or into a withdrawal of more
// prefixes than given.
import { deepStrictEqual } from 'node:assert'
import { familyOf } from '../../net/address.ts'
import type { Prefix } from '../../net/prefix.ts'
import { afiOf, decodeNlri, safiUnicast } from './attributes.ts'
import { encodeWithdrawal, type Owner } from './codec.ts'
import type { PathChange, Dialect } from './dialect.ts'

/** Throws AssertionError unless the message is exactly the withdrawal of Pharos' routes for `prefixes`. */
export function encodeCheckedWithdrawal(
  prefixes: readonly Prefix[],
  owner: Owner,
  dialect: Dialect,
): Uint8Array {
  const octets = dialect.encodeChange(prefixes.map((prefix) => encodeWithdrawal(prefix, owner)))
  assertWithdrawal(dialect.decodeChange(octets), prefixes, owner, dialect.globalTable)
  return octets
}

/** Exported for its test: each path withdraws exactly one prefix of the owner. */
export function assertWithdrawal(
  { paths, tableType, $unknown }: PathChange,
  prefixes: readonly Prefix[],
  owner: Owner,
  globalTable: number | undefined,
): void {
  deepStrictEqual([$unknown, tableType, paths.length], [undefined, globalTable, prefixes.length])
  for (const [at, prefix] of prefixes.entries()) {
    const { isWithdraw, identifier, family, nlriBinary, $unknown } = paths[at]!
    const isOurs = isWithdraw && identifier === owner.identifier && $unknown === undefined
    const isFamily = family?.afi === afiOf(familyOf(prefix)) && family.safi === safiUnicast
    deepStrictEqual([isOurs, isFamily, decodeNlri(nlriBinary, familyOf(prefix))], [true, true, prefix])
  }
}
