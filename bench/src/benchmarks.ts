// All benchmarks, in the order in which they are measured.
import { coldStart } from './cold-start.ts'
import { createAnnouncements } from './create-announcements.ts'
import { eventDetail } from './event-detail.ts'
import type { Benchmark } from './benchmark.ts'
import { dnsFuzz } from './dns-fuzz.ts'
import { followStream } from './follow-stream.ts'
import { fullReconcile } from './full-reconcile.ts'
import { loginFlood } from './login-flood.ts'
import { patchToPeer } from './patch-to-peer.ts'
import { portal } from './portal.ts'
import { relatedList } from './related-list.ts'
import { relatedListLarge } from './related-list-large.ts'
import { roaCheck } from './roa-check.ts'
import { sessionRefresh } from './session-refresh.ts'
import { signZoneBenchmark } from './sign-zone.ts'
import { zoneFileParse } from './zone-file-parse.ts'

export const benchmarks: readonly Benchmark[] = [
  relatedList,
  relatedListLarge,
  eventDetail,
  sessionRefresh,
  patchToPeer,
  fullReconcile,
  roaCheck,
  createAnnouncements,
  coldStart,
  loginFlood,
  followStream,
  zoneFileParse,
  signZoneBenchmark,
  dnsFuzz,
  portal,
]
