// Which speaker a region has: from the settings that the operator's file put into the region's row to a driver.
import { readFileSync } from 'node:fs'
import type { RouteSettings } from '../byoip/reconcile/plan.ts'
import type { Speaker } from '../byoip/reconcile/speaker.ts'
import { createGobgpSpeaker } from '../drivers/gobgp/speaker.ts'
import { createSandboxSpeaker } from '../drivers/sandbox/speaker.ts'
import { checkSpeaker, type SpeakerSettings } from '../platform/speaker.ts'

/** The speaker of a region; throws when its settings do not make sense, or a key file cannot be read. */
export function createSpeaker(slug: string, settings: unknown): Speaker {
  const checked = checkedSettings(slug, settings)
  return checked.kind === 'sandbox'
    ? createSandboxSpeaker({ region: slug, latencyMs: checked.latency_ms ?? 0 })
    : createGobgpSpeaker(gobgpConfig(checked))
}

/** How the routes of a region look: the next hops that the operator gave. */
export function routeSettings(slug: string, settings: unknown): RouteSettings {
  const checked = checkedSettings(slug, settings)
  if (checked.kind !== 'gobgp') return {}
  const { ipv4, ipv6 } = checked.next_hop ?? {}
  return {
    ...(ipv4 === undefined ? {} : { nextHop4: ipv4 }),
    ...(ipv6 === undefined ? {} : { nextHop6: ipv6 }),
  }
}

function checkedSettings(slug: string, settings: unknown): SpeakerSettings {
  const problems = checkSpeaker(settings as Record<string, unknown>)
  if (problems.length === 0) return settings as SpeakerSettings
  throw new Error(`speaker of region ${slug}: ${problems.map(({ message }) => message).join('; ')}`)
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
