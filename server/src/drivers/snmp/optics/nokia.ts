// TIMETRA-PORT-MIB of Nokia SR OS: tmnxDigitalDiagMonitorTable by chassis and port, tmnxDDMLaneTable by chassis, port and lane; the port
// is the ifIndex. Temperature in 1/256 degrees, voltage in 0.1 mV, bias in 1/500 mA, power in 0.1 uW.
import {
  ethernetTypeIn,
  type LaneValues,
  opticModuleOf,
  type ModuleValues,
  positiveUpTo,
  readingsOf,
} from './assemble.ts'
import type { DecodedModule, OpticFamily, OpticTables } from './family.ts'
import { type Conversion, indexesIn, integerAt, limitsAt, scaledTo, textAt, watts } from './values.ts'

const port = '1.3.6.1.4.1.6527.3.1.2.2.4.2.1'
const ddm = '1.3.6.1.4.1.6527.3.1.2.2.4.31.1'
const laneEntry = '1.3.6.1.4.1.6527.3.1.2.2.4.66.1'

/** tmnxPortTable: wavelength in nm, model, connector, equipped (1), serial and part number. */
const identity = { wavelength: 27, model: 29, connector: 30, equipped: 34, serial: 45, part: 46 } as const
/** Each has its limits behind it: low warning, low alarm, high warning, high alarm. */
const ddmColumn = { temperature: 1, voltage: 6, bias: 11, tx: 16, rx: 21 } as const
const laneColumn = { bias: 7, tx: 12, rx: 17 } as const
/** External calibration (SFF-8472 section 9.3): receive power by a polynomial, from the fourth power; others by slope and offset. */
const calibration = { isExternal: 40, rx: [41, 42, 43, 44, 45], bias: [46, 47], tx: [48, 49] } as const

const toTemperature = scaledTo('temperature', 1 / 256)
const toVoltage = scaledTo('voltage', 1 / 10_000)
const toBias = scaledTo('bias', 1 / 500)
const toPower = watts(0.0001)

const range = (entry: string, first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => `${entry}.${first + at}`)
const ddmColumns = range(ddm, 1, 25)
const laneColumns = range(laneEntry, 7, 21)

export const nokiaPort: OpticFamily = {
  name: 'TIMETRA-PORT-MIB',
  probe: `${ddm}.1`,
  columns: [
    ...ddmColumns,
    ...range(ddm, calibration.isExternal, calibration.tx[1]),
    ...laneColumns,
    ...Object.values(identity).map((column) => `${port}.${column}`),
  ],
  measured: [
    ...Object.values(ddmColumn).map((column) => `${ddm}.${column}`),
    ...Object.values(laneColumn).map((column) => `${laneEntry}.${column}`),
  ],
  decode(tables) {
    const modules = new Map(
      indexesIn(tables, ddmColumns).map((index) => [index, moduleAt(tables, index)] as const),
    )
    const equipped = [...(tables.get(`${port}.${identity.equipped}`) ?? [])]
      .filter(([, value]) => value === 1)
      .map(([index]) => index)
    return {
      transceivers: [...new Set([...modules.keys(), ...equipped])].map((index) =>
        identify(tables, index, modules.get(index)),
      ),
      readings: [...modules.values()].flatMap(readingsOf),
    }
  },
}

const referenceOf = (index: string) => ({ kind: 'interface', index: Number(index.split('.')[1]) }) as const

function identify(tables: OpticTables, index: string, values: ModuleValues | undefined): DecodedModule {
  const text = (column: number) => textAt(tables, `${port}.${column}`, index)
  const number = (column: number) => integerAt(tables, `${port}.${column}`, index)
  const part = text(identity.part) ?? text(identity.model)
  return opticModuleOf(referenceOf(index), {
    part,
    serial: text(identity.serial),
    type: ethernetTypeIn(part, text(identity.model)),
    wavelengthNm: positiveUpTo(2_000, number(identity.wavelength)),
    connector: { 1: 'SC', 7: 'LC', 8: 'MT-RJ', 9: 'MU' }[number(identity.connector) ?? 0] ?? null,
    lanes: Math.max(1, values?.lanes.length ?? 1),
    hasDdm: values !== undefined && readingsOf(values).length > 0,
  })
}

function moduleAt(tables: OpticTables, index: string): ModuleValues {
  const number = (column: number) => integerAt(tables, `${ddm}.${column}`, index)
  const isExternal = number(calibration.isExternal) === 1
  const linear = (convert: Conversion, [slope, offset]: readonly [number, number]): Conversion =>
    isExternal ? (value) => convert(onLine(value, number(slope), number(offset))) : convert
  const toRx: Conversion = isExternal
    ? (value) => toPower(onCurve(value, calibration.rx.map(number)))
    : toPower
  const [toTx, toCurrent] = [linear(toPower, calibration.tx), linear(toBias, calibration.bias)]
  const lanes = lanesAt(tables, index)
  const limits = limitsOf(tables, ddm, index)
  // A module without diagnosis has a row of zeros.
  const isOn = number(ddmColumn.temperature) !== 0 || number(ddmColumn.voltage) !== 0
  const only = { lane: 1, rxDbm: toRx(number(ddmColumn.rx)), txDbm: toTx(number(ddmColumn.tx)) }
  return {
    port: referenceOf(index),
    temperatureC: isOn ? toTemperature(number(ddmColumn.temperature)) : null,
    voltageV: toVoltage(number(ddmColumn.voltage)),
    limits: {
      temperature: limits(ddmColumn.temperature, toTemperature),
      voltage: limits(ddmColumn.voltage, toVoltage),
      bias: limits(ddmColumn.bias, toCurrent),
      tx_power: limits(ddmColumn.tx, toTx),
      rx_power: limits(ddmColumn.rx, toRx),
    },
    lanes: lanes.length > 0 ? lanes : isOn ? [{ ...only, biasMa: toCurrent(number(ddmColumn.bias)) }] : [],
  }
}

/** Lane rows that are all zero belong to another type of module. */
function lanesAt(tables: OpticTables, index: string): LaneValues[] {
  const rows = indexesIn(tables, laneColumns).filter((lane) => lane.startsWith(`${index}.`))
  const numbers = rows.map((row) => Number(row.slice(index.length + 1)))
  const first = Math.min(...numbers)
  return rows.flatMap((row, at) => {
    const number = (column: number) => integerAt(tables, `${laneEntry}.${column}`, row)
    const limits = limitsOf(tables, laneEntry, row)
    if ([laneColumn.bias, laneColumn.tx, laneColumn.rx].every((column) => !number(column))) return []
    return {
      // Numbered from 0 by some releases.
      lane: numbers[at]! + (first === 0 ? 1 : 0),
      rxDbm: toPower(number(laneColumn.rx)),
      txDbm: toPower(number(laneColumn.tx)),
      biasMa: toBias(number(laneColumn.bias)),
      limits: {
        bias: limits(laneColumn.bias, toBias),
        tx_power: limits(laneColumn.tx, toPower),
        rx_power: limits(laneColumn.rx, toPower),
      },
    }
  })
}

function limitsOf(tables: OpticTables, entry: string, index: string) {
  return (column: number, convert: Conversion) =>
    limitsAt(tables, entry, [column + 2, column + 1, column + 3, column + 4], index, convert)
}

/** The slope is a fixed-point number with 8 bits after the point. 0 is no light, which calibration would make some. */
function onLine(value: number | null, slope: number | null, offset: number | null): number | null {
  return value === null || value === 0 || slope === null ? value : (value * slope) / 256 + (offset ?? 0)
}

/**
 * Coefficients are IEEE 754 numbers of 32 bits, from the fourth power to the constant; null if a coefficient is
 * missing.
 */
function onCurve(value: number | null, coefficients: readonly (number | null)[]): number | null {
  if (value === null || value === 0 || coefficients.includes(null)) return value === 0 ? 0 : null
  const view = new DataView(new ArrayBuffer(4))
  return coefficients.reduce<number>((sum, bits) => {
    view.setUint32(0, bits!)
    return sum * value + view.getFloat32(0)
  }, 0)
}
