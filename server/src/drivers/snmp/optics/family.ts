// A family of MIB tables with modules and light levels: the columns to read, and their meaning. A family must not send
// requests and must not know the keys of interfaces.
import type { OpticReading, SeenTransceiver } from '../../../inventory/collect/device-source.ts'

/** An INTEGER, Gauge or Counter is a number or bigint, an OCTET STRING is octets or text, an OBJECT IDENTIFIER is text. */
export type OpticValue = number | bigint | string | Uint8Array

/** The values of columns: by the OID of the column, then by the index, the rest of the OID as text. */
export type OpticTables = ReadonlyMap<string, ReadonlyMap<string, OpticValue>>

/** The port of a module as its table names it. */
export type PortReference =
  | { readonly kind: 'interface'; readonly index: number }
  /** An entity of ENTITY-MIB: the module, its port or a sensor of it, by entPhysicalIndex. */
  | { readonly kind: 'entity'; readonly index: number }
  | { readonly kind: 'name'; readonly name: string }
  /** The number on the front panel: of `xe7`, or of `xe7/1` if the port is divided into lanes. */
  | { readonly kind: 'panel'; readonly number: number; readonly lane: number }

export type DecodedModule = Omit<SeenTransceiver, 'interfaceKey'> & { readonly port: PortReference }
export type DecodedReading = Omit<OpticReading, 'interfaceKey'> & { readonly port: PortReference }

export type OpticFamily = {
  /** The MIB. */
  readonly name: string
  /** Column that has values if the device implements the family. */
  readonly probe: string
  /** All columns that `decode` reads, except ENTITY-MIB. */
  readonly columns: readonly string[]
  /** Columns that change while a module stays: the others are read with the modules only. */
  readonly measured: readonly string[]
  /** Pure. Values that cannot be are null. */
  decode(tables: OpticTables): {
    readonly transceivers: readonly DecodedModule[]
    readonly readings: readonly DecodedReading[]
  }
}
