// The ports through which a proof of an ASN is looked for. What is behind them is wired by the roles: this domain knows no
// registry's protocol. "There is none" is an answer; `unavailable` is none, and never counts against the team.
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import type { TxtResolver } from '../team/txt-resolver.ts'

export type Unavailable = { readonly state: 'unavailable'; readonly reason: string }

/** The aut-num object (RFC 2622 section 6) as the text of the first registry, in order, that has one. */
export type AutNumAnswer =
  | { readonly state: 'found'; readonly text: string }
  | { readonly state: 'missing' }
  | Unavailable

export type AutNumSource = {
  /** An answer that is older than `maxAgeSeconds` is asked for again. */
  autNum(
    asn: Asn,
    question: { readonly maxAgeSeconds: number; readonly signal: AbortSignal },
  ): Promise<AutNumAnswer>
}

/** Validated ROA payload (RFC 6811), as in net/roa-table.ts. */
export type Roa = { readonly prefix: Prefix; readonly maxLength: number; readonly asn: number }

export type RoaSource = {
  /** Those of the prefix itself, of whatever ASN; others may be among them. */
  roasOf(prefix: Prefix): Promise<{ readonly state: 'found'; readonly roas: readonly Roa[] } | Unavailable>
}

export type OriginSource = {
  /** The prefixes that the ASN may originate, as ROAs or route objects say, in any order. */
  originsOf(
    asn: Asn,
    signal: AbortSignal,
  ): Promise<{ readonly state: 'found'; readonly prefixes: readonly Prefix[] } | Unavailable>
}

/** What is left out is not set up: its method is `unavailable`. */
export type AsnProofSources = {
  readonly autNum?: AutNumSource | undefined
  readonly txt?: TxtResolver | undefined
  readonly origins?: OriginSource | undefined
  readonly roas?: RoaSource | undefined
}
