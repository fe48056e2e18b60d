// Demo accounts have a published password: they work only where nobody but this machine can reach the server.
import { fail } from '../runtime/error.ts'

/** Stands in the documentation: for demo accounts only. */
export const publishedPassword = 'pharos-demo-password'

export type DemoRule = {
  /** Whether the server listens on a loopback address. */
  readonly onLoopback: boolean
}

export function refuseDemoElsewhere(rule: DemoRule, account: { readonly isDemo: boolean }): void {
  if (!account.isDemo || rule.onLoopback) return
  throw fail('forbidden', 'demoAccount')
}
