// Wires announcements: their operations, and the loops of the reconciler role, which make the routers announce what the teams have
// requested, check announcements against the registries, follow their visibility, and end black holes.
import { join } from 'node:path'
import { readLetterVerdicts } from './letter/letter.store.ts'
import { createHandedFiles } from './regions/handed-routes.ts'
import { createLastKnownRoutesFiles } from './regions/last-known-routes.ts'
import { createReconcilers } from './regions/reconcilers.ts'
import { suspendByValidation } from './announcement/suspend-announcement.ts'
import { createValidator } from './validation/validator.ts'
import type { ReportDifferences } from './regions/closed-run.ts'
import type { Db } from '../db/postgres.ts'
import { saveDifferences, saveProblem } from '../restore/restore.store.ts'
import type { Component } from '../runtime/component.ts'
import { authorizationDeps } from '../registry/parts.ts'
import type { Shared } from '../process/shared.ts'
import { createVisibilityMonitor } from './visibility/visibility-monitor.ts'
import { visibilityDrivers } from '../drivers/visibility-sources.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import { markBlackholed } from '../events/relate/event-mark.ts'
import { expireBlackholes } from './blackhole/expire-blackholes.ts'
import { listBlackholed } from './blackhole/expire-blackholes.store.ts'
import { createLedLoop } from '../db/led-loop.ts'
import type { FormerRecord, RegionRecord } from './regions/reconcile.store.ts'
import type { RegionSpeaker } from './regions/region-reconciler.ts'
import type { Speaker } from './regions/speaker.ts'
import { type NamedSpeaker, createSpeaker, routerLabel } from '../drivers/speakers.ts'
import { DriverError } from '../runtime/driver-error.ts'

export function reconcilerParts({
  config,
  postgres,
  waker,
  log,
  metrics,
  gate,
  rpki,
  irr,
}: Shared): Component[] {
  return [
    createValidator({
      postgres,
      waker,
      rpki,
      irr,
      readLetters: readLetterVerdicts,
      authorization: authorizationDeps(config),
      irrIntervalSeconds: config.irrRecheckSeconds,
      suspend: suspendByValidation,
      policy: {
        onLoss: config.onValidationLoss === 'suspend' ? 'suspend' : 'warn',
        graceHours: config.validationGraceHours,
      },
      now: () => new Date(),
      log,
      metrics,
    }),
    createReconcilers({
      postgres,
      waker,
      speakersOf: createSpeakers,
      lastKnownRoutes: createLastKnownRoutesFiles(join(config.dataDir, 'reconciler'), config.secret),
      handedFiles: createHandedFiles(join(config.dataDir, 'agents'), config.secret),
      gate,
      report: reportRegion(postgres.owner),
      log,
      metrics,
      intervalMs: config.reconcileIntervalSeconds * 1000,
    }),
  ]
}

const reportRegion =
  (db: Db): ReportDifferences =>
  async ({ region: source, ...found }) => {
    if (found.problem !== null) return saveProblem(db, { area: 'routes', source, problem: found.problem })
    await saveDifferences(db, { area: 'blackholes', source, differences: found.blackholes })
    await saveDifferences(db, { area: 'routes', source, differences: found.routes })
  }

/** Returns no part without a source: nothing is connected to, and nothing is stored. */
export function visibilityParts(shared: Shared): Component[] {
  const { config, log } = shared
  const ourAsn = config.providerAsn
  const sources = fromSetting('visibility_sources', () =>
    visibilityDrivers.createAll(config.visibilitySources, { log, ourAsn, now: () => new Date() }),
  )
  if (sources.length === 0) return []
  const now = () => new Date()
  return [createVisibilityMonitor({ ...shared, sources, ourAsn, now })]
}

/** How late the end of a black hole is noticed, if no other loop runs before. */
const blackholeIntervalMs = 2_000

export function blackholePart(shared: Shared): Component {
  const { postgres, log } = shared
  return createLedLoop(shared, {
    name: 'blackholes',
    sends: { gate: shared.gate },
    wakeName: 'blackholes',
    intervalMs: blackholeIntervalMs,
    async run() {
      const ended = await expireBlackholes(postgres.owner)
      if (ended > 0) log.info({ ended }, 'black holes ended')
      await markBlackholed(postgres.owner, await listBlackholed(postgres.owner))
    },
  })
}

/**
 * Creates the speakers of a region, its former ones last; throws an Error if their settings are not valid, or a key file cannot be read. That of a
 * former one may be gone with the router: it cannot be read then.
 */
export function createSpeakers(region: RegionRecord): readonly RegionSpeaker[] {
  const { slug, formers = [] } = region
  return [...currentSpeakers(region), ...formers.map((one) => formerSpeaker(slug, one))]
}

function currentSpeakers(region: RegionRecord): readonly RegionSpeaker[] {
  const { slug, communities, largeCommunities, blackholeNextHop: { ipv4, ipv6 } = {} } = region
  const discard = {
    ...(ipv4 === undefined ? {} : { discard4: ipv4 }),
    ...(ipv6 === undefined ? {} : { discard6: ipv6 }),
  }
  return (region.speakers as readonly NamedSpeaker[]).map(({ name, ...settings }) => {
    const { speaker, nextHops } = createSpeaker(settings, routerLabel(slug, name))
    return { name, speaker, routes: { communities, largeCommunities, ...nextHops, ...discard } }
  })
}

function formerSpeaker(slug: string, { id, name, settings }: FormerRecord): RegionSpeaker {
  const one = { name: `${name} (former ${id})`, routes: {}, former: id }
  try {
    return {
      ...one,
      speaker: createSpeaker(settings as NamedSpeaker, routerLabel(slug, name)).speaker,
    }
  } catch (error) {
    return { ...one, speaker: unusableSpeaker(error as Error) }
  }
}

function unusableSpeaker({ message }: Error): Speaker {
  const fail = () => Promise.reject(new DriverError('unreachable', message))
  return {
    probe: fail,
    list: fail,
    find: fail,
    announce: fail,
    withdraw: fail,
    neighbors: fail,
    advertised: fail,
    watch: () => () => {},
    close: async () => {},
  }
}
