// For tests: arbitraries of prefixes for property tests.
import * as fc from 'fast-check'
import type { Family } from './bits.ts'
import { parsePrefix } from './prefix.ts'
import type { Prefix } from './prefix.ts'

/** A prefix of the naive model, independent of the code of this folder. */
export type PrefixModel = {
  readonly family: Family
  readonly first: bigint
  readonly last: bigint
  readonly length: number
}

export const widths = { 4: 32, 6: 128 } as const

/** `::ffff:0:0/96`, which has no prefix in this form. */
function isMapped({ family, first }: PrefixModel): boolean {
  return family === 6 && first >> 32n === 0xffffn
}

/** The model of the prefix around an address. */
export function modelAround(family: Family, address: bigint, length: number): PrefixModel {
  const hostBits = BigInt(widths[family] - length)
  const first = (address >> hostBits) << hostBits
  return { family, first, last: first + (1n << hostBits) - 1n, length }
}

/** Often zero, so that there are runs of zeros. */
const group = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 0, 0, 1, 0xffff, 0x8000, 0x2001, 0xcb00, 0x7180) },
  { weight: 1, arbitrary: fc.nat(0xffff) },
)

function scatteredAddress(width: number): fc.Arbitrary<bigint> {
  return fc
    .array(group, { minLength: width / 16, maxLength: width / 16 })
    .map((groups) => groups.reduce((sum, value) => (sum << 16n) | BigInt(value), 0n))
}

/** One address with up to two of its bits flipped, so that two of them differ at any depth. */
function closeAddress(width: number): fc.Arbitrary<bigint> {
  const base = 0x2001_0db8_0000_ffff_8000_0000_7f7f_0001n >> BigInt(128 - width)
  return fc
    .array(fc.nat(width - 1), { maxLength: 2 })
    .map((bits) => bits.reduce((address, bit) => address ^ (1n << BigInt(bit)), base))
}

function ofFamily(family: Family): fc.Arbitrary<PrefixModel> {
  const width = widths[family]
  const address = fc.oneof(scatteredAddress(width), closeAddress(width))
  const length = fc.oneof(fc.nat(width), fc.constantFrom(0, 8, 16, 24, width))
  return fc.tuple(address, length).map(([address, length]) => modelAround(family, address, length))
}

/** Prefixes of one family, or of both. They often nest, repeat and have runs of zeros. */
export function prefixModel(...families: Family[]): fc.Arbitrary<PrefixModel> {
  return fc
    .oneof(...(families.length > 0 ? families : ([4, 6] as const)).map(ofFamily))
    .filter((model) => !isMapped(model))
}

/** The 16-bit groups of an address, highest first. */
export function groupsOf({ family, first }: Pick<PrefixModel, 'family' | 'first'>): number[] {
  const count = widths[family] / 16
  return Array.from({ length: count }, (_, i) => Number((first >> BigInt(16 * (count - 1 - i))) & 0xffffn))
}

/** A valid text of the prefix, IPv6 uncompressed. */
export function plainText(model: PrefixModel): string {
  const groups = groupsOf(model)
  if (model.family === 6) return `${groups.map((group) => group.toString(16)).join(':')}/${model.length}`
  return `${groups.flatMap((group) => [group >> 8, group & 255]).join('.')}/${model.length}`
}

export function prefixOf(model: PrefixModel): Prefix {
  return parsePrefix(plainText(model))
}

export function modelCovers(outer: PrefixModel, inner: PrefixModel): boolean {
  return outer.family === inner.family && outer.first <= inner.first && outer.last >= inner.last
}
