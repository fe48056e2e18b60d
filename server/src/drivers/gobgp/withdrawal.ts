// The one place that makes withdrawals. What it returns was read back from the octets that will be sent, so that no
// slip in a type, a name or a default can turn a withdrawal into an announcement or into one of more than it names.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { deepStrictEqual } from 'node:assert'
import { familyOf } from '../../net/address.ts'
import type { Prefix } from '../../net/prefix.ts'
import { afiOf, decodeNlri, safiUnicast } from './attributes.ts'
import { encodeWithdrawal, type Owner } from './codec.ts'
import { type AddPathStreamRequest, AddPathStreamRequestSchema } from './generated/gobgp_pb.js'

/** Throws AssertionError instead of returning a message that is not exactly the withdrawal of our routes for `prefixes`. */
export function withdrawalOf(prefixes: readonly Prefix[], owner: Owner): AddPathStreamRequest {
  const paths = prefixes.map((prefix) => encodeWithdrawal(prefix, owner))
  const octets = toBinary(AddPathStreamRequestSchema, create(AddPathStreamRequestSchema, { paths }))
  const sent = fromBinary(AddPathStreamRequestSchema, octets)
  assertWithdrawal(sent, prefixes, owner)
  return sent
}

/** Exported for its test: each path withdraws one prefix of ours, and nothing more was read than is meant. */
export function assertWithdrawal(
  { paths, $unknown }: AddPathStreamRequest,
  prefixes: readonly Prefix[],
  owner: Owner,
): void {
  deepStrictEqual($unknown, undefined)
  deepStrictEqual(paths.length, prefixes.length)
  for (const [at, prefix] of prefixes.entries()) {
    const { isWithdraw, identifier, family, nlriBinary, $unknown } = paths[at]!
    const isOurs = isWithdraw && identifier === owner.identifier && $unknown === undefined
    const isFamily = family?.afi === afiOf(familyOf(prefix)) && family.safi === safiUnicast
    deepStrictEqual([isOurs, isFamily, decodeNlri(nlriBinary, familyOf(prefix))], [true, true, prefix])
  }
}
