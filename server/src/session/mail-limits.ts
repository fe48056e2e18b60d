// Limits mails per client address and per recipient.
import { ClientLimiter } from '../runtime/client-limiter.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'

export type MailLimits = {
  /** Throws `rate_limited`, whether or not an account has the address. */
  take(from: string, to: string): void
}

/** Many people may share one client address. */
const perNetworkAddress = 10

/** Allows `perHour` mails to one recipient, and ten times as many from one client address. In memory of the process. */
export function createMailLimits(perHour: number): MailLimits {
  const to = new RateLimiter({ perSecond: perHour / 3600, burst: perHour })
  const from = new ClientLimiter({
    perSecond: (perHour * perNetworkAddress) / 3600,
    burst: perHour * perNetworkAddress,
  })
  return {
    take(fromAddress, toAddress) {
      from.take(fromAddress)
      to.take(toAddress.toLowerCase())
    },
  }
}
