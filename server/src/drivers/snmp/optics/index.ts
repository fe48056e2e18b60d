// Modules and light levels: the families of optics tables are read here.
import type { OpticReading, SeenTransceiver } from '../../../inventory/collect/device-source.ts'
import type { SnmpSession } from '../session.ts'

export async function listTransceivers(
  _session: SnmpSession,
  _signal: AbortSignal,
): Promise<readonly SeenTransceiver[]> {
  return []
}

export async function readOptics(
  _session: SnmpSession,
  _signal: AbortSignal,
): Promise<readonly OpticReading[]> {
  return []
}
