// Limits answers over UDP to each network.
import { isIPv4, isIPv6 } from 'node:net'
import { readAddress } from '../../net/address.ts'

/** Answers to one network. */
export type ResponseRate = { readonly perSecond: number; readonly burst: number }

export type RateVerdict = 'answer' | 'truncate' | 'drop'

const networksMax = 100_000

type Bucket = { tokens: number; at: number; limited: number }

/**
 * Limits answers over UDP to each network, because the source address of a datagram may be forged: the victim of a reflection gets a bounded
 * number of answers, every second of them truncated, and a real client repeats its question over TCP.
 */
export class ResponseRateLimit {
  readonly #rate: ResponseRate
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: ResponseRate) {
    this.#rate = rate
  }

  /** Takes one answer to an address. `nowMs` is of a monotonic clock. Loopback is never limited. */
  take(address: string, nowMs: number): RateVerdict {
    if (address.startsWith('127.') || address === '::1') return 'answer'
    const network = networkOf(address)
    const bucket = this.#buckets.get(network) ?? this.#add(network, nowMs)
    const { perSecond, burst } = this.#rate
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.at) / 1000) * perSecond)
    bucket.at = nowMs
    if (bucket.tokens < 1) return ++bucket.limited % 2 === 0 ? 'truncate' : 'drop'
    bucket.tokens -= 1
    return 'answer'
  }

  /** The oldest entry makes room: a flood of forged addresses must not fill the memory. */
  #add(network: string, at: number): Bucket {
    if (this.#buckets.size >= networksMax) {
      const { value } = this.#buckets.keys().next()
      if (value !== undefined) this.#buckets.delete(value)
    }
    const bucket = { tokens: this.#rate.burst, at, limited: 0 }
    this.#buckets.set(network, bucket)
    return bucket
  }
}

/** A /24 of IPv4 and a /56 of IPv6: the networks that response rate limits of other servers use. */
function networkOf(address: string): string {
  if (isIPv4(address)) return address.slice(0, address.lastIndexOf('.'))
  if (!isIPv6(address)) return address
  const { w0, w1 } = readAddress(address, address.length)
  return `${w0}:${w1 >>> 8}`
}
