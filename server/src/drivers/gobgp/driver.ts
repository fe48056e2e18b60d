// The driver of routers that run GoBGP.
import { readFileSync } from 'node:fs'
import type { SpeakerDriver } from '../../byoip/regions/speaker-driver.ts'
import { checkGobgpSettings, GobgpSettings } from './settings.ts'
import { createGobgpSpeaker } from './speaker.ts'

export const gobgp: SpeakerDriver = {
  kind: 'gobgp',
  settings: GobgpSettings,
  check: checkGobgpSettings,
  ownerOf(settings) {
    const { address, owner } = settings as GobgpSettings
    return `${address} ${owner}`
  },
  create(settings) {
    const { address, owner, tls, insecure, timeout_ms: timeoutMs } = settings as GobgpSettings
    return createGobgpSpeaker({
      address,
      owner,
      ...(tls ? { tls: readPemFiles(tls) } : {}),
      ...(insecure === undefined ? {} : { insecure }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
  },
  nextHopsOf(settings) {
    const { ipv4, ipv6 } = (settings as GobgpSettings).next_hop ?? {}
    return {
      ...(ipv4 === undefined ? {} : { nextHop4: ipv4 }),
      ...(ipv6 === undefined ? {} : { nextHop6: ipv6 }),
    }
  },
}

function readPemFiles({ ca_file, cert_file, key_file }: NonNullable<GobgpSettings['tls']>) {
  const read = (file: string) => readFileSync(file, 'utf8')
  return {
    ca: read(ca_file),
    ...(cert_file === undefined ? {} : { cert: read(cert_file) }),
    ...(key_file === undefined ? {} : { key: read(key_file) }),
  }
}
