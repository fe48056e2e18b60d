// The hosts that reached a tenth of a limit in the last hour: their usual traffic is read from the flows. Only in memory.
import type { TargetRates } from './detector/remote-rates.ts'

const keptMs = 3_600_000
const hostsMax = 10_000

export function createNearHosts(nowMs: () => number = () => performance.now()) {
  /** When each was seen last, the one longest ago first. */
  const seen = new Map<string, number>()
  return {
    add(targets: readonly TargetRates[]): void {
      for (const { network, direction } of targets) {
        if (direction === 'outgoing' || !network.endsWith(network.includes(':') ? '/128' : '/32')) continue
        seen.delete(network)
        seen.set(network, nowMs())
      }
      for (const [network, last] of seen) {
        if (nowMs() - last < keptMs && seen.size <= hostsMax) break
        seen.delete(network)
      }
    },
    list: (): readonly string[] => [...seen.keys()],
  }
}
