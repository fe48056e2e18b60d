// For tests: the rules in BIRD's tables, parsed from its text. It shares no decoder with the driver.
import type { FlowspecPeers } from '@pharos/lab/flowspec-peers'
import { flowspecFamilies, type Gobgpd } from '@pharos/lab/gobgpd'
import type { FilterAction, FilterRule } from '../../net/filter-rule.ts'
import { type FlowMatch, rangeMax } from '../../net/flow-match.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { canonicalRanges, type Range } from '../../net/ranges.ts'

/**
 * Returns the rules of an owner in BIRD's tables, in no particular order. BIRD cuts the text of a rule after 256 characters: of such a
 * rule with a list of destination ports, the list is read from the text of GoBGP's client.
 */
export async function birdRules({ bird, gobgpd }: FlowspecPeers, owner: string): Promise<FilterRule[]> {
  const texts = await Promise.all(
    ['flow4tab', 'flow6tab'].map((table) => bird.birdc(`show route all table ${table}`)),
  )
  const isCut = texts.some((text) => text.includes(' ...}'))
  const lists = isCut ? await gobgpPorts(gobgpd) : []
  const communityOfOwner = `(${owner.split(':').join(', ')})`
  return texts
    .flatMap((text) => text.split(/^(?=flow[46] \{)/m))
    .filter((text) => text.startsWith('flow') && text.includes(communityOfOwner))
    .map((text) => ({
      id: Number(/\(\d+, 13476\d+, (\d+)\)/.exec(text)![1]),
      match: parseConditions(completed(/\{ (.*(?:; \}| \.\.\.\}))/.exec(text)![1]!, lists)),
      action: parseAction(text),
    }))
}

/** Lists of single destination ports, such as `10000,10002`. */
async function gobgpPorts(gobgpd: Gobgpd): Promise<string[]> {
  const texts = await Promise.all(
    flowspecFamilies.map((family) => gobgpd.gobgp('global', 'rib', '-a', family)),
  )
  return texts.flatMap((text) =>
    [...text.matchAll(/\[destination-port:((?: ==\d+)+)\]/g)].map(([, ports]) =>
      ports!.trim().replaceAll('==', '').replaceAll(' ', ','),
    ),
  )
}

function completed(text: string, lists: readonly string[]): string {
  if (!text.endsWith(' ...}')) return text.replace(/; \}$/, '')
  const [, head, shown] = /^(.*; dport )([\d,]*),\d* \.\.\.\}$/.exec(text)!
  const found = lists.filter((list) => list.startsWith(`${shown},`))
  if (found.length !== 1) throw new Error(`${found.length} lists of ports begin with ${shown}`)
  return head! + found[0]!
}

const conditions = {
  proto: 'protocol',
  'next header': 'protocol',
  dport: 'destinationPort',
  sport: 'sourcePort',
  'icmp type': 'icmpType',
  'icmp code': 'icmpCode',
  length: 'packetLength',
  dscp: 'dscp',
} as const

function parseConditions(text: string): FlowMatch {
  const match: { -readonly [Key in keyof FlowMatch]: FlowMatch[Key] } = {} as FlowMatch
  for (const part of text.split('; ')) {
    const [, name = '', value = ''] =
      /^(dst|src|tcp flags|fragment|next header|icmp type|icmp code|\w+) (.*)$/.exec(part)!
    if (name === 'dst') match.destination = parsePrefix(value)
    else if (name === 'src') match.source = parsePrefix(value)
    else if (name === 'tcp flags') match.tcpFlags = parseFlags(value)
    else if (name === 'fragment') match.fragment = parseFragment(value)
    else {
      const condition = conditions[name as keyof typeof conditions]
      match[condition] = canonicalRanges(value.split(',').map((one) => parseRange(one, rangeMax[condition])))!
    }
  }
  return match
}

function parseRange(text: string, max: number): Range {
  if (text.startsWith('<= ')) return [0, Number(text.slice(3))]
  if (text.startsWith('>= ')) return [Number(text.slice(3)), max]
  const [first, last = first] = text.split('..').map(Number)
  return [first!, last!]
}

/** Such as `0x2/0x2 && 0x0/0x10`: value and mask. */
function parseFlags(text: string): { set: number; unset: number } {
  const flags = { set: 0, unset: 0 }
  for (const part of text.split(' && ')) {
    const [value, mask] = part.split('/').map(Number)
    if (value === mask) flags.set |= mask!
    else if (value === 0) flags.unset |= mask!
    else throw new Error(`flags ${text}`)
  }
  return flags
}

function parseFragment(text: string): boolean {
  if (text === 'is_fragment || first_fragment') return true
  if (text === '!is_fragment && !first_fragment') return false
  throw new Error(`fragment ${text}`)
}

function parseAction(text: string): FilterAction {
  const [, code, rate] = /ext_community: \(generic, (0x[0-9a-f]+), (0x[0-9a-f]+)\)/.exec(text) ?? []
  if (code === undefined) return { kind: 'allow' }
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(Number(rate))
  const value = octets.readFloatBE(0)
  if (code === '0x80060000') return value === 0 ? { kind: 'deny' } : { kind: 'rate_limit', bps: value * 8 }
  if (code === '0x800c0000') return { kind: 'rate_limit', pps: value }
  throw new Error(`action ${code}`)
}
