// What is this machine, by its name alone: nothing is resolved.
import { isIP } from 'node:net'

/** Whether only this machine can reach what listens on the host. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  if (isIP(host) === 4) return host.startsWith('127.')
  if (isIP(host) === 6) return new URL(`http://[${host}]`).hostname === '[::1]'
  return false
}
