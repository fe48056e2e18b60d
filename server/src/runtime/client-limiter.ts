// Limits calls per client address, where one IPv6 client has many.
import { maskHostBits } from '../net/prefix.ts'
import { plainAddress } from './client-address.ts'
import type { RateState } from './error.ts'
import { RateLimiter, type Rate } from './rate-limit.ts'

/** Buckets of one site. A site usually has a /48 or a /56 (RFC 6177), with 65,536 or 256 own /64 networks. */
const clientsOfSite = 16

/** Returns the IPv4 address, or the /64 network of an IPv6 address, of which a client has all addresses. */
export function networkOfClient(address: string): string {
  const plain = plainAddress(address)
  return plain.includes(':') ? maskHostBits(`${plain}/64`) : plain
}

/**
 * One bucket for each IPv4 address or /64 of IPv6, and a larger one for each /48, so that a client cannot avoid its
 * limit by using another of its networks.
 */
export class ClientLimiter {
  readonly #clients: RateLimiter
  readonly #sites: RateLimiter

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(rate: Rate, now?: () => number) {
    this.#clients = new RateLimiter(rate, now)
    this.#sites = new RateLimiter(
      { perSecond: rate.perSecond * clientsOfSite, burst: rate.burst * clientsOfSite },
      now,
    )
  }

  /** Takes one token; throws `rate_limited` with the time to wait. Returns the state of the client, not of its site. */
  take(address: string): RateState {
    const plain = plainAddress(address)
    if (!plain.includes(':')) return this.#clients.take(plain)
    // First: a site over its limit gets no bucket for each of its networks. A refused client does not reduce the site's
    // bucket.
    const site = maskHostBits(`${plain}/48`)
    this.#sites.take(site)
    try {
      return this.#clients.take(networkOfClient(plain))
    } catch (error) {
      this.#sites.giveBack(site)
      throw error
    }
  }
}
