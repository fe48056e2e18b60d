// Computes the published addresses of an ALIAS record from the resolver's answers. Pure.
import type { AliasReason } from '@pharos/contract/reason/alias-reason'
import { isIPv4 } from 'node:net'
import { compareOctets } from '../../net/dns/name.ts'
import { parseRdata } from '../../net/dns/rdata/rdata.ts'
import { sameRdata } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import type { ResolvedAddress } from '../reverse/address-resolver.ts'

/** Seconds that resolvers keep the addresses at most; a lower TTL of the ALIAS record applies. */
export const aliasTtlMax = 300
/** Seconds between two questions: the TTL of the answer within these limits. */
const refreshSeconds = { minimum: 60, maximum: aliasTtlMax } as const
/** Longest time between two questions for a target that fails: many of them must not delay the others. */
const retrySecondsMax = 900
/** Limit of published addresses of a target; further ones are dropped, in canonical order. */
const addressesMax = 100

/** The addresses that are known of a target. */
export type AliasAddresses = { readonly a: readonly Uint8Array[]; readonly aaaa: readonly Uint8Array[] }

/** The addresses of one family, or the reason of a failure. */
export type FamilyAnswer = readonly ResolvedAddress[] | 'unreachable' | 'refused'

/** The state of a target before a query. */
export type AliasBefore = AliasAddresses & {
  readonly reason: AliasReason | null
  /** Seconds between the last attempt and this one. */
  readonly waitedSeconds: number
}

export type AliasOutcome = AliasAddresses & {
  /** The answers had addresses. */
  readonly isResolved: boolean
  readonly isChanged: boolean
  readonly reason: AliasReason | null
  readonly dueSeconds: number
}

/**
 * Returns the addresses after two answers. A family without an answer keeps its addresses, and a target without any
 * address keeps both families: a failure withdraws no address.
 */
export function applyAnswers(
  before: AliasBefore,
  answers: { readonly a: FamilyAnswer; readonly aaaa: FamilyAnswer },
  isAllowed: (address: string) => boolean,
): AliasOutcome {
  const given = [answers.a, answers.aaaa].flatMap((answer) => (typeof answer === 'string' ? [] : answer))
  const allowed = given.filter(({ address }) => isAllowed(address))
  const failed = [answers.a, answers.aaaa].find((answer) => typeof answer === 'string')
  const isResolved = allowed.length > 0
  const of = (answer: FamilyAnswer, type: number, kept: readonly Uint8Array[]): readonly Uint8Array[] =>
    isResolved && typeof answer !== 'string' ? rdataOf(allowed, type) : kept
  const a = of(answers.a, recordType.A, before.a)
  const aaaa = of(answers.aaaa, recordType.AAAA, before.aaaa)
  const reason = failed ?? (isResolved ? null : given.length > 0 ? 'not_public' : 'no_addresses')
  return {
    a,
    aaaa,
    isResolved,
    isChanged: !sameRdata(a, before.a) || !sameRdata(aaaa, before.aaaa),
    reason,
    dueSeconds:
      reason === null
        ? within(Math.min(...allowed.map((one) => one.ttl)), refreshSeconds.maximum)
        : retrySeconds(before),
  }
}

const within = (seconds: number, maximum: number): number =>
  Math.min(Math.max(seconds, refreshSeconds.minimum), maximum)

/** The time doubles with every failure. */
const retrySeconds = ({ reason, waitedSeconds }: AliasBefore): number =>
  within(reason === null ? 0 : 2 * waitedSeconds, retrySecondsMax)

/** Returns the outcome of an attempt without an answer. */
export const withoutAnswer = (before: AliasBefore, reason: AliasReason): AliasOutcome => ({
  a: before.a,
  aaaa: before.aaaa,
  isResolved: false,
  isChanged: false,
  reason,
  dueSeconds: retrySeconds(before),
})

const rdataOf = (addresses: readonly ResolvedAddress[], type: number): Uint8Array[] =>
  addresses
    .filter(({ address }) => isIPv4(address) === (type === recordType.A))
    .map(({ address }) => parseRdata(type, address))
    .toSorted(compareOctets)
    .slice(0, addressesMax)
