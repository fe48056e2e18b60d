// The resources to which a credential is limited, in its actor, and the refusal of other objects. A limit closes
// everything that it does not name. Pure.
import type { ProblemError } from '@pharos/contract/problem'
import type { LimitKind } from '@pharos/contract/resource-limit'
import { errorAt, fail, failWith, type Failure } from '../runtime/error.ts'

/** Names in absolute canonical form. */
export type NamePattern =
  | { readonly kind: 'name' | 'below'; readonly name: string }
  | { readonly kind: 'first_label'; readonly label: string }

export type ZoneLimit = {
  readonly id: number
  /** Absolute and canonical. */
  readonly name: string
  /** Null: all names. */
  readonly names: readonly NamePattern[] | null
  /** Numbers of types; null: all types. */
  readonly types: ReadonlySet<number> | null
  /** Text for answers: `zone example.com (_acme-challenge; TXT)`. */
  readonly text: string
}

export type Limits = {
  readonly zones: ReadonlyMap<number, ZoneLimit>
  readonly prefixes: readonly string[]
  readonly ports: ReadonlySet<number>
  readonly services: ReadonlySet<number>
}

export const isWholeZone = ({ names, types }: ZoneLimit): boolean => names === null && types === null

/** Throws `resource_limited` if the operation is closed to limited credentials. */
export function requireOpen(limits: Limits | null, limitedBy: LimitKind | undefined): void {
  if (limits && limitedBy === undefined) throw fail('resource_limited', 'operation')
}

/** Returns the 403 for something of the request that is outside of the limit. */
export const outsideLimit = (loc: ProblemError['loc'], allowed: readonly string[]): Failure =>
  failWith('resource_limited', [outsideLimitAt(loc, allowed)])

export const outsideLimitAt = (loc: ProblemError['loc'], allowed: readonly string[]): ProblemError =>
  errorAt(loc, 'outsideLimit', { allowed })
