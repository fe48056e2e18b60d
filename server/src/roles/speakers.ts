// The speakers of a region: from the settings that the platform file put into the region's row to drivers.
import { readFileSync } from 'node:fs'
import type { RouteSettings } from '../byoip/reconcile/plan.ts'
import type { Speaker } from '../byoip/reconcile/speaker.ts'
import { createGobgpSpeaker } from '../drivers/gobgp/speaker.ts'
import { createSandboxSpeaker } from '../drivers/sandbox/speaker.ts'
import type { RegionRecord } from '../byoip/reconcile/reconcile.store.ts'
import type { RegionSpeaker } from '../byoip/reconcile/region-reconciler.ts'
import { checkSpeaker, type NamedSpeaker, type SpeakerSettings } from '../platform/speaker.ts'

/** Creates the speakers of a region; throws if their settings are not valid, or a key file cannot be read. */
export function createSpeakers(region: RegionRecord): readonly RegionSpeaker[] {
  const all = region.speakers as readonly NamedSpeaker[]
  return all.map(({ name, ...given }) => {
    const settings = checkedSettings(region.slug, name, given)
    return {
      name,
      speaker: createSpeaker(region.slug, name, settings),
      routes: routeSettings(region, settings),
    }
  })
}

function createSpeaker(region: string, name: string, settings: SpeakerSettings): Speaker {
  if (settings.kind === 'gobgp') return createGobgpSpeaker(gobgpConfig(settings))
  const router = name === region ? region : `${region}/${name}`
  return createSandboxSpeaker({ region: router, latencyMs: settings.latency_ms ?? 0 })
}

/** What the routes have beside what the announcement says: communities of the region, next hops of the speaker. */
function routeSettings(
  { communities, largeCommunities }: RegionRecord,
  settings: SpeakerSettings,
): RouteSettings {
  const { ipv4, ipv6 } = (settings.kind === 'gobgp' && settings.next_hop) || {}
  return {
    communities,
    largeCommunities,
    ...(ipv4 === undefined ? {} : { nextHop4: ipv4 }),
    ...(ipv6 === undefined ? {} : { nextHop6: ipv6 }),
  }
}

function checkedSettings(region: string, name: string, settings: Record<string, unknown>): SpeakerSettings {
  const problems = checkSpeaker(settings)
  if (problems.length === 0) return settings as SpeakerSettings
  throw new Error(`speaker ${name} of region ${region}: ${problems.map(({ message }) => message).join('; ')}`)
}

type GobgpSettings = Extract<SpeakerSettings, { kind: 'gobgp' }>

function gobgpConfig({ address, owner, tls, insecure, timeout_ms }: GobgpSettings) {
  return {
    address,
    owner,
    ...(tls ? { tls: pemTexts(tls) } : {}),
    ...(insecure === undefined ? {} : { insecure }),
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
  }
}

function pemTexts({ ca_file, cert_file, key_file }: NonNullable<GobgpSettings['tls']>) {
  const read = (file: string) => readFileSync(file, 'utf8')
  return {
    ca: read(ca_file),
    ...(cert_file === undefined ? {} : { cert: read(cert_file) }),
    ...(key_file === undefined ? {} : { key: read(key_file) }),
  }
}
