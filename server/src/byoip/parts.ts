// Wires announcements: their operations, and the loops of the reconciler role, which apply the teams' requests to the
// routers, check announcements against the registries, follow their visibility, and end black holes.
import { join } from 'node:path'
import { authorizedProvider } from '../brand/provider.ts'
import { createLedLoop } from '../db/led-loop.ts'
import type { Db } from '../db/postgres.ts'
import { listDependentZones } from '../dns/reverse/dependent-zones.ts'
import { listPtrNames } from '../dns/reverse/ptr.ts'
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import { createRdapSource } from '../drivers/rdap/source.ts'
import { scannerDrivers } from '../drivers/scanners.ts'
import { createSpeaker, routerLabel, type NamedSpeaker } from '../drivers/speakers.ts'
import { visibilityDrivers } from '../drivers/visibility-sources.ts'
import { createHostResolver } from '../drivers/outgoing/resolve-host.ts'
import { markBlackholed } from '../events/relate/event-mark.ts'
import type { Mounted } from '../http/mount.ts'
import type { ApiShared, Parts, Shared } from '../process/shared.ts'
import { saveDifferences, saveRestoreProblem } from '../restore/restore.store.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import { listDependentLists } from '../shield/shield-list.store.ts'
import { announcementRoutes } from './announcement/announcement.routes.ts'
import { suspendByValidation } from './announcement/suspend-announcement.ts'
import { blackholeRoutes } from './blackhole/blackhole.routes.ts'
import { listBlackholed } from './blackhole/expire-blackholes.store.ts'
import { expireBlackholes } from './blackhole/expire-blackholes.ts'
import { createInspector, type LetterScanner } from './letter/inspect-letter.ts'
import { createDrafter } from './letter/letter-draft.ts'
import { letterRoutes } from './letter/letter.routes.ts'
import { readLetterVerdicts } from './letter/letter.store.ts'
import { letterQuotas } from './letter/letter.ts'
import type { ReportDifferences } from './regions/closed-run.ts'
import { createHandedFiles } from './regions/handed-routes.ts'
import { createLastKnownRoutesFiles } from './regions/last-known-routes.ts'
import type { FormerRecord, RegionRecord } from './regions/reconcile.store.ts'
import { createReconcilers } from './regions/reconcilers.ts'
import { readEvidence } from './regions/region-evidence.ts'
import type { RegionSpeaker } from './regions/region-reconciler.ts'
import { routerRoutes } from './regions/router.routes.ts'
import { checkFreshMs } from './regions/router.ts'
import type { Speaker } from './regions/speaker.ts'
import type { AuthorizationDeps } from './validation/query-registries.ts'
import { createValidator } from './validation/validator.ts'
import { createVisibilityMonitor } from './visibility/visibility-monitor.ts'

export function routes(shared: ApiShared): Mounted[] {
  const { config, front: db, readBrand } = shared
  const deps = { ...shared, db }
  return [
    ...announcementRoutes({
      ...deps,
      memberToggle: config.membersMayToggle,
      allowDocumentation: config.allowDocumentationResources,
      authorizationKinds: config.authorizationProofs,
      quota: config.announcementsPerTeam,
      listDependentZones,
      listDependentLists,
      readEvidence,
      checkRequests: new RateLimiter({
        perSecond: config.checkRequestsPerMinute / 60,
        burst: config.checkRequestsPerMinute,
      }),
    }),
    ...routerRoutes({ ...deps, freshMs: checkFreshMs(config.reconcileIntervalSeconds) }),
    ...letterRoutes({
      ...deps,
      inspector: createInspector(scannerOf(config)),
      drafter: createDrafter(),
      quotas: letterQuotas,
      readProvider: async () => authorizedProvider(config, await readBrand()),
    }),
    ...blackholeRoutes({
      ...deps,
      readPtrNames: (teamId, host) => listPtrNames(db, teamId, host),
    }),
  ]
}

export const parts = (shared: Shared): Parts => ({
  reconciler: () => [
    validator(shared),
    reconcilers(shared),
    ...visibilityMonitor(shared),
    blackholes(shared),
  ],
})

const scannerOf = ({ clamdUrl }: Config): { scanner?: LetterScanner } =>
  clamdUrl === null ? {} : { scanner: scannerDrivers.create(clamdUrl, undefined) }

function validator(shared: Shared): Component {
  const { config } = shared
  return createValidator({
    ...shared,
    readLetters: readLetterVerdicts,
    authorization: authorizationDeps(config),
    irrIntervalSeconds: config.irrRecheckSeconds,
    suspend: suspendByValidation,
    policy: {
      onLoss: config.onValidationLoss === 'suspend' ? 'suspend' : 'warn',
      graceHours: config.validationGraceHours,
    },
  })
}

/**
 * Returns the accepted proofs of authorization and their sources, not connected yet. Throws a ConfigError if a source
 * is invalid.
 */
export function authorizationDeps(config: Config): AuthorizationDeps {
  const { authorizationProofs: kinds, rdapBootstrap: bootstrap, dnsResolvers: servers, secret: ring } = config
  const txt = createTxtResolver({ servers })
  const resolver = createHostResolver({ servers })
  const rdap =
    bootstrap === null
      ? undefined
      : fromSetting('rdap_bootstrap', () => createRdapSource({ bootstrap, resolver }))
  return { kinds, ring, txt, rdap }
}

function reconcilers(shared: Shared): Component {
  const { config, ring, owner } = shared
  return createReconcilers({
    ...shared,
    speakersOf: createSpeakers,
    lastKnownRoutes: createLastKnownRoutesFiles(join(config.dataDir, 'reconciler'), ring),
    handedFiles: createHandedFiles(join(config.dataDir, 'agents'), ring),
    report: reportRegion(owner),
    intervalMs: config.reconcileIntervalSeconds * 1000,
  })
}

const reportRegion =
  (db: Db): ReportDifferences =>
  async ({ region: source, ...found }) => {
    if (found.problem !== null)
      return saveRestoreProblem(db, { area: 'routes', source, problem: found.problem })
    await saveDifferences(db, { area: 'blackholes', source, differences: found.blackholes })
    await saveDifferences(db, { area: 'routes', source, differences: found.routes })
  }

/** Returns no part without a source: there is no connection and no stored data. */
function visibilityMonitor(shared: Shared): Component[] {
  const { config, log, now } = shared
  const ourAsn = config.providerAsn
  const sources = fromSetting('visibility_sources', () =>
    visibilityDrivers.createAll(config.visibilitySources, { log, ourAsn, now }),
  )
  return sources.length === 0 ? [] : [createVisibilityMonitor({ ...shared, sources, ourAsn })]
}

/** How late the end of a black hole is noticed, if no other loop runs before. */
const blackholeIntervalMs = 2_000

function blackholes(shared: Shared): Component {
  const { owner, log } = shared
  return createLedLoop(shared, {
    name: 'blackholes',
    sends: { gate: shared.gate },
    wakeName: 'blackholes',
    intervalMs: blackholeIntervalMs,
    async run() {
      const ended = await expireBlackholes(owner)
      if (ended > 0) log.info({ ended }, 'black holes ended')
      await markBlackholed(owner, await listBlackholed(owner))
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
