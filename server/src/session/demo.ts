// Demo accounts have a published password: they work only if the server is reachable from this machine alone.
import { fail } from '../runtime/error.ts'

/** Published in the documentation: for demo accounts only. */
export const publishedPassword = 'pharos-demo-password'

export type DemoRule = {
  /** Whether the server listens on a loopback address. */
  readonly onLoopback: boolean
}

export function refuseDemoElsewhere(rule: DemoRule, account: { readonly isDemo: boolean }): void {
  if (!account.isDemo || rule.onLoopback) return
  throw fail('forbidden', 'demoAccount')
}
