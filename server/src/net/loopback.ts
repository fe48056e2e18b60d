// Recognizes loopback hosts by their text. No name is resolved.
import { parseAddress } from './address.ts'
import { PrefixError } from './prefix-error.ts'

/** Whether only this machine can reach a service that listens on the host. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  try {
    return /^127\.|^::1$/.test(parseAddress(host))
  } catch (error) {
    if (error instanceof PrefixError) return false
    throw error
  }
}
