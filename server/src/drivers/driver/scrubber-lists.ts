// The checks that every scrubber makes before it sends anything. Lists are compiled and checked before; a mistake there must not reach
// a router or a kernel.
import { counted } from '@pharos/contract/counted'
import type { CompiledList, ScrubberCapabilities } from '../../shield/scrubber.ts'
import { familyOf } from '../../net/address.ts'
import { rangeConditions, rangeMax } from '../../net/flow-match.ts'
import { covers, type Prefix, parsePrefix } from '../../net/prefix.ts'
import { DriverError, type RejectedItem } from '../../runtime/driver-error.ts'

/** Longest call of a scrubber: a fenced run that changes it may be silent for 15 seconds (reconcile/lease.ts). */
export const callMsMax = 12_000

/** Throws DriverError `refused` with every rule that this scrubber must not install. */
export function assertInstallable(
  lists: readonly CompiledList[],
  can: ScrubberCapabilities,
  name: string,
): void {
  const refused: RejectedItem[] = []
  const prefixes = new Set<Prefix>()
  for (const { prefix, rules } of lists) {
    const refuse = (reason: string) => refused.push({ subject: prefix, reason })
    if (prefixes.has(prefix)) refuse('two lists')
    prefixes.add(prefix)
    if (!can.families.includes(familyOf(prefix))) refuse(`IPv${familyOf(prefix)} is not supported`)
    for (const { id, match, action } of rules) {
      const problem =
        problemOf(match.destination, prefix, 'destination') ?? sourceProblem(match.source, prefix)
      if (problem !== undefined) refuse(`rule ${id}: ${problem}`)
      for (const condition of rangeConditions) {
        const ranges = match[condition]
        if (ranges && !ranges.every(([first, last]) => isWithin(first, last, rangeMax[condition])))
          refuse(`rule ${id}: ${condition} is out of range`)
      }
      if (action.kind === 'rate_limit') {
        const rate = 'bps' in action ? action.bps : action.pps
        if (!(rate > 0 && Number.isFinite(rate))) refuse(`rule ${id}: the rate is not a positive number`)
        if ('pps' in action && !can.packetRate) refuse(`rule ${id}: limits in packets are not supported`)
        const max = 'bps' in action ? can.rateMax.bps : can.rateMax.pps
        if (rate > max) refuse(`rule ${id}: the rate exceeds ${max}`)
      }
    }
  }
  if (lists.reduce((sum, { rules }) => sum + rules.length, 0) > can.rulesMax)
    refused.push({ subject: lists[0]!.prefix, reason: `more than ${can.rulesMax} rules` })
  if (refused.length === 0) return
  const first = `${refused[0]!.subject}: ${refused[0]!.reason}`
  throw new DriverError('refused', `${name}: ${counted(refused.length, 'rule')} refused, first ${first}`, {
    refused,
  })
}

function isWithin(first: number, last: number, max: number): boolean {
  return Number.isInteger(first) && Number.isInteger(last) && first >= 0 && last >= first && last <= max
}

function sourceProblem(source: Prefix | undefined, prefix: Prefix): string | undefined {
  if (source === undefined) return undefined
  if (familyOf(source) !== familyOf(prefix)) return 'the source is of the other family'
  return isCanonical(source) ? undefined : 'the source is not a prefix'
}

function problemOf(destination: Prefix, prefix: Prefix, name: string): string | undefined {
  if (!isCanonical(destination)) return `the ${name} is not a prefix`
  return covers(prefix, destination) ? undefined : `the ${name} is outside of the prefix`
}

function isCanonical(prefix: string): boolean {
  try {
    return parsePrefix(prefix) === prefix
  } catch {
    return false
  }
}
