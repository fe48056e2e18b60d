// Modules and light levels, from the families of optics tables.
import type { InterfaceKey, OpticReading, SeenTransceiver } from '../../../inventory/collect/device-source.ts'

/** An INTEGER, Gauge or Counter is a number or bigint, an OCTET STRING is octets or text, an OBJECT IDENTIFIER is text. */
type OpticValue = number | bigint | string | Uint8Array

/** The values of columns: by the OID of the column, then by the index, the rest of the OID as text. */
type OpticTables = ReadonlyMap<string, ReadonlyMap<string, OpticValue>>

/** Reads columns; one that the device lacks is empty or absent. */
export type OpticWalk = (columns: readonly string[]) => Promise<OpticTables>

type InterfaceKeys = ReadonlyMap<number, InterfaceKey>

export async function listTransceivers(_walk: OpticWalk, _keys: InterfaceKeys): Promise<SeenTransceiver[]> {
  return []
}

export async function readOptics(_walk: OpticWalk, _keys: InterfaceKeys): Promise<OpticReading[]> {
  return []
}
