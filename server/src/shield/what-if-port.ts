// The port to the estimate of a list's effect on past flows. It must not decide whether the effect is acceptable.
import type { ShieldWhatIf } from '@pharos/contract/shield/shield'
import type { Prefix } from '../net/prefix.ts'
import type { ParsedRule } from './shield-rule.ts'

export type WhatIfRequest = {
  readonly teamId: number
  readonly prefix: Prefix
  /** The applied rules, in order, with their index in the request. */
  readonly rules: readonly (ParsedRule & { readonly index: number })[]
  readonly startMs: number
  readonly endMs: number
}

/** Estimates it; `state` is `unavailable` if flows cannot be read. Never throws for that. */
export type EstimateWhatIf = (request: WhatIfRequest) => Promise<ShieldWhatIf>
