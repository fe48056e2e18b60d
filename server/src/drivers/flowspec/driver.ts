// The driver of routers with FlowSpec. It uses a separate gobgpd: a malformed rule would end the daemon's sessions,
// which must not carry routes.
import { readFileSync } from 'node:fs'
import type { ScrubberDriver } from '../../shield/scrubber-driver.ts'
import { callMsMax } from '../driver/scrubber-lists.ts'
import { FlowspecScrubber } from './scrubber.ts'
import { checkFlowspecSettings, FlowspecSettings } from './settings.ts'

export const flowspec: ScrubberDriver = {
  kind: 'flowspec',
  settings: FlowspecSettings,
  check: checkFlowspecSettings,
  ownerOf(settings) {
    const { address, owner } = settings as unknown as FlowspecSettings
    return `${address} ${owner}`
  },
  create(settings, { rulesMax }) {
    const { address, owner, families, packet_rate, tls, insecure, timeout_ms } =
      settings as unknown as FlowspecSettings
    return new FlowspecScrubber({
      address,
      owner,
      rulesMax,
      packetRate: packet_rate ?? false,
      ...(families ? { families } : {}),
      ...(tls ? { tls: readPemFiles(tls) } : {}),
      ...(insecure === undefined ? {} : { insecure }),
      ...(timeout_ms === undefined ? {} : { timeoutMs: Math.min(timeout_ms, callMsMax) }),
    })
  },
}

function readPemFiles({ ca_file, cert_file, key_file }: NonNullable<FlowspecSettings['tls']>) {
  const read = (file: string) => readFileSync(file, 'utf8')
  return {
    ca: read(ca_file),
    ...(cert_file === undefined ? {} : { cert: read(cert_file) }),
    ...(key_file === undefined ? {} : { key: read(key_file) }),
  }
}
