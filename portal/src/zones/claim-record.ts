// The TXT record that shows whose a name is, from the problem of the API. Pure.
import type { ProblemError } from '@pharos/contract/client'

export type ClaimRecord = { readonly domain: string; readonly name: string; readonly value: string }

/** Returns undefined if no record can show it, as for reverse DNS. */
export function claimRecord({ problem }: ProblemError): ClaimRecord | undefined {
  for (const { ctx } of problem.errors ?? []) {
    const { record_name: name, record_value: value } = ctx ?? {}
    // The first label belongs to the proof.
    if (typeof name === 'string' && typeof value === 'string')
      return { domain: name.replace(/^[^.]*\./, ''), name, value }
  }
  return undefined
}
