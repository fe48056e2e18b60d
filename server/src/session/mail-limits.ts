// How often mails may be asked for: by an address of the network, and to an address of mail, whoever asks.
import { RateLimiter } from '../runtime/rate-limit.ts'

export type MailLimits = {
  /** Throws `rate_limited`. Whether anybody has the address does not matter. */
  take(from: string, to: string): void
}

/** Many people may sit behind one address of the network. */
const perNetworkAddress = 10

/** `perHour` mails to one address; ten times as many from one address of the network. In memory of the process. */
export function createMailLimits(perHour: number): MailLimits {
  const to = new RateLimiter({ perSecond: perHour / 3600, burst: perHour })
  const from = new RateLimiter({
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
