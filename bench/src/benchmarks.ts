// All benchmarks, in the order in which they are measured.
import { capacity } from './capacity.ts'
import { collectFlows } from './collect-flows.ts'
import { coldFollowers } from './cold-followers.ts'
import { coldStart } from './cold-start.ts'
import { costGrowth } from './cost-growth.ts'
import { createAnnouncements } from './create-announcements.ts'
import { eventDetail } from './event-detail.ts'
import { detectAttack } from './detect-attack.ts'
import { judgeAttacks } from './judge-attacks.ts'
import { deviceList } from './device-list.ts'
import type { Benchmark } from './benchmark.ts'
import { dnsChange, dnsFollowers, dnsLargeZone } from './dns-change.ts'
import { dnsFuzz } from './dns-fuzz.ts'
import { dnsQueries } from './dns-queries.ts'
import { compileListsBenchmark } from './compile-lists.ts'
import { flowInsert, flowSeries } from './flow-store.ts'
import { flowspecRules } from './flowspec-rules.ts'
import { followStream } from './follow-stream.ts'
import { formFlood } from './form-flood.ts'
import { fullReconcile } from './full-reconcile.ts'
import { idleZones } from './idle-zones.ts'
import { ingestEvents } from './ingest-events.ts'
import { loginFlood } from './login-flood.ts'
import { memory } from './memory.ts'
import { nameserverKills } from './nameserver-kills.ts'
import { nftablesRules } from './nftables-rules.ts'
import { patchToPeer } from './patch-to-peer.ts'
import { percentile } from './percentile.ts'
import { pollDevices } from './poll-devices.ts'
import { portUsage } from './port-usage.ts'
import { portal } from './portal.ts'
import { ptrBatch } from './ptr-batch.ts'
import { readCounters } from './read-counters.ts'
import { receiveFlows } from './receive-flows.ts'
import { recordSetList } from './recordset-list.ts'
import { relatedList } from './related-list.ts'
import { relatedListLarge } from './related-list-large.ts'
import { relatedTimeseries } from './related-timeseries.ts'
import { roaCheck } from './roa-check.ts'
import { sessionRefresh } from './session-refresh.ts'
import { signInCost } from './sign-in-cost.ts'
import { signZoneBenchmark } from './sign-zone.ts'
import { zoneFileParse } from './zone-file-parse.ts'
import { zoneImport } from './zone-import.ts'
import { start } from './start.ts'
import { whatIf } from './what-if.ts'

export const benchmarks: readonly Benchmark[] = [
  relatedList,
  relatedListLarge,
  relatedTimeseries,
  eventDetail,
  sessionRefresh,
  patchToPeer,
  fullReconcile,
  ingestEvents,
  collectFlows,
  roaCheck,
  createAnnouncements,
  coldStart,
  loginFlood,
  followStream,
  dnsChange,
  dnsFollowers,
  dnsLargeZone,
  zoneFileParse,
  zoneImport,
  recordSetList,
  ptrBatch,
  coldFollowers,
  dnsQueries,
  signZoneBenchmark,
  idleZones,
  nameserverKills,
  dnsFuzz,
  readCounters,
  pollDevices,
  portUsage,
  percentile,
  deviceList,
  receiveFlows,
  detectAttack,
  judgeAttacks,
  flowSeries,
  flowInsert,
  flowspecRules,
  whatIf,
  nftablesRules,
  compileListsBenchmark,
  signInCost,
  formFlood,
  portal,
  capacity,
  memory,
  start,
  costGrowth,
]
