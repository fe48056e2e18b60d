// D4, first part: parses a zone file of 50,000 records with all its checks. Beside it named-compilezone without its semantic checks, its start
// included. Both must find the same number of records.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programPath } from '../../lab/src/program.ts'
import { checkZone, collectSets } from '../../server/src/dns/zone-file/check-zone.ts'
import { parseZoneFile } from '../../server/src/dns/zone-file/zone-file.ts'
import { parseZoneName } from '../../server/src/net/dns/name.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { missingPrograms } from './packages.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

export const zoneFileParse: Benchmark = {
  id: 'D4',
  name: 'zone-file-parse',
  title: 'zone file of 50,000 records parsed and checked',
  missing: () => missingPrograms('named-compilezone'),
  run,
}

const zone = parseZoneName('example.com')

async function run(bench: Bench): Promise<Line[]> {
  const count = bench.quick ? 5_000 : 50_000
  const text = zoneFile(count)
  const file = join(bench.folder, 'bench.zone')
  writeFileSync(file, text)
  const octets = Buffer.from(text)
  const theirs = execFileSync(programPath('named-compilezone'), [...options, '-', 'example.com', file], {
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 100_000_000,
  })
  const found = parse(octets)
  const lines = theirs.toString('latin1').trimEnd().split('\n').length
  if (found !== count || lines !== count)
    throw new Error(`${found} records parsed, ${lines} by named-compilezone, ${count} written`)
  const { ours, peer } = await takeTurns(
    Math.max(bench.rounds, 3),
    async () => {
      const parsedMs = msOf(() => parseZoneFile(octets, { origin: zone }))
      return { parsedMs, checkedMs: msOf(() => parse(octets)) }
    },
    async () =>
      msOf(() =>
        execFileSync(programPath('named-compilezone'), [...options, '/dev/null', 'example.com', file], {
          stdio: 'ignore',
        }),
      ),
  )
  const peerMs = medianOf(peer, Number)
  const line = (what: string, ms: number): Omit<Line, 'goal' | 'reached'> => ({
    what: `${whole(count)} records ${what}`,
    result: milliseconds(ms),
    peer: `${milliseconds(peerMs)} named-compilezone`,
    ratio: times(ms / peerMs),
  })
  const parsedMs = medianOf(ours, (sample) => sample.parsedMs)
  return [
    { ...line('parsed', parsedMs), goal: '<= 1x', reached: parsedMs <= peerMs },
    {
      ...line(
        'parsed, collected and checked together',
        medianOf(ours, (sample) => sample.checkedMs),
      ),
      goal: '',
      reached: undefined,
    },
  ]
}

const options = ['-k', 'ignore', '-n', 'ignore', '-i', 'none', '-F', 'text', '-o']

/** Returns the number of records. */
function parse(octets: Uint8Array): number {
  const { records, problems } = parseZoneFile(octets, { origin: zone })
  const { sets, findings } = collectSets(records)
  if (problems.length + findings.length + checkZone(zone, sets).length > 0)
    throw new Error('the zone file has errors')
  return records.length
}

function msOf(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** A zone with the usual types: hosts with A and AAAA, aliases, MX, TXT and SRV. */
function zoneFile(count: number): string {
  const lines = [
    '$TTL 3600',
    '@ SOA ns1 hostmaster 1 7200 3600 1209600 3600',
    '@ NS ns1',
    '@ NS ns2',
    'ns1 A 192.0.2.1',
    'ns2 A 192.0.2.2',
  ]
  for (let at = 0; lines.length <= count; at++) {
    lines.push(
      `host${at} IN A 192.0.${(at >> 8) & 255}.${at & 255}`,
      ` AAAA 2001:db8::${(at & 0xffff).toString(16)}:1`,
      `www${at} 300 IN CNAME host${at}`,
      `host${at} MX 10 mail${at % 7}.example.net.`,
      ` TXT "v=spf1 include:_spf${at}.example.net ~all"`,
      `_sip._udp.host${at} SRV 0 5 5060 sip${at % 9}.example.net.`,
    )
  }
  return `${lines.slice(0, count + 1).join('\n')}\n`
}
